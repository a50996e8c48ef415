define i32 @run(ptr %inputs, ptr %outputs) nounwind {
entry:
  %stack1 = alloca i32, i64 1, align 64
  %stack23 = alloca i64, i64 15, align 64
  %slots = alloca ptr, i64 1, align 64
  %arena = alloca i8, i64 1, align 64
  store i32 0, ptr %stack1
  %v2 = getelementptr i64, ptr %outputs, i64 3
  br label %body4
body4:
  %v5 = getelementptr i64, ptr %inputs, i64 0
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %inputs, i64 1
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %inputs, i64 2
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %inputs, i64 5
  %v12 = load ptr, ptr %v11
  %v13 = getelementptr i64, ptr %inputs, i64 6
  %v14 = load i64, ptr %v13
  %v15 = getelementptr i64, ptr %inputs, i64 7
  %v16 = load i64, ptr %v15
  %v17 = getelementptr i64, ptr %inputs, i64 10
  %v18 = load ptr, ptr %v17
  %v19 = getelementptr i64, ptr %inputs, i64 11
  %v20 = load i64, ptr %v19
  %v21 = getelementptr i64, ptr %outputs, i64 0
  %v22 = load ptr, ptr %v21
  %v24 = getelementptr i64, ptr %stack23, i64 0
  store i64 %v20, ptr %v24, align 8
  %v25 = getelementptr i64, ptr %stack23, i64 1
  store i64 %v8, ptr %v25, align 8
  %v26 = getelementptr i64, ptr %stack23, i64 2
  store i64 %v16, ptr %v26, align 8
  %v27 = getelementptr i64, ptr %stack23, i64 3
  store ptr %v18, ptr %v27, align 8
  %v28 = getelementptr i64, ptr %stack23, i64 4
  store ptr %v22, ptr %v28, align 8
  call void @graphify_matmul_float32(ptr %v6, i64 %v10, i64 1, ptr %v12, i64 %v16, i64 1, ptr %v22, i64 %v16, i64 1, i64 %v8, i64 %v16, i64 %v10, ptr @epilogue.1, ptr %stack23)
  br label %exit3
exit3:
  %v29 = load i32, ptr %stack1
  %v30 = icmp ne i32 %v29, 0
  ret i32 %v29
}

define internal void @epilogue.1(ptr %context, ptr %tile, i64 %c_row, i64 %c_col, i64 %first_row, i64 %first_col, i64 %rows, i64 %cols) nounwind {
entry:
  %stack1 = alloca i32, i64 1, align 64
  %v3 = getelementptr i64, ptr %context, i64 0
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i64, ptr %context, i64 1
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i64, ptr %context, i64 2
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i64, ptr %context, i64 3
  %v10 = load ptr, ptr %v9, align 8
  %v11 = getelementptr i64, ptr %context, i64 4
  %v12 = load ptr, ptr %v11, align 8
  %v16 = icmp slt i64 0, %rows
  br i1 %v16, label %first15, label %done14
first15:
  %v32 = mul i64 %first_row, %v8
  %v33 = add i64 %v32, %first_col
  %v34 = getelementptr float, ptr %v12, i64 %v33
  %v39 = getelementptr float, ptr %v10, i64 %first_col
  br label %enter17
enter17:
  br label %for13
for13:
  %i13 = phi i64 [0, %enter17], [%i13.next, %some24]
  %v20 = and i64 %i13, 7
  %v21 = icmp eq i64 %v20, 0
  br i1 %v21, label %due18, label %on19, !prof !0
due18:
  br label %on19
on19:
  %v22 = icmp sgt i64 %cols, 0
  br i1 %v22, label %some23, label %some24
some23:
  %v35 = mul i64 %i13, %v8
  %v36 = getelementptr float, ptr %v34, i64 %v35
  br label %vector25
vector25:
  %v26 = and i64 %cols, -32
  %v30 = icmp slt i64 0, %v26
  br i1 %v30, label %first29, label %done28
first29:
  br label %enter31
enter31:
  br label %for27
for27:
  %i27 = phi i64 [0, %enter31], [%i27.next, %for27]
  %v37 = getelementptr float, ptr %v36, i64 %i27
  %v38 = load <16 x float>, ptr %v37, align 4
  %v40 = getelementptr float, ptr %v39, i64 %i27
  %v41 = load <16 x float>, ptr %v40, align 4
  %v42 = fadd <16 x float> %v38, %v41
  %v43 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v42, <16 x float> zeroinitializer)
  %v44 = getelementptr float, ptr %v36, i64 %i27
  store <16 x float> %v43, ptr %v44, align 4
  %v45 = add i64 %i27, 16
  %v46 = getelementptr float, ptr %v36, i64 %v45
  %v47 = load <16 x float>, ptr %v46, align 4
  %v48 = getelementptr float, ptr %v39, i64 %v45
  %v49 = load <16 x float>, ptr %v48, align 4
  %v50 = fadd <16 x float> %v47, %v49
  %v51 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v50, <16 x float> zeroinitializer)
  %v52 = getelementptr float, ptr %v36, i64 %v45
  store <16 x float> %v51, ptr %v52, align 4
  %i27.next = add nsw i64 %i27, 32
  %v53 = icmp slt i64 %i27.next, %v26
  br i1 %v53, label %for27, label %done28
done28:
  %v57 = icmp slt i64 %v26, %cols
  br i1 %v57, label %first56, label %done55
first56:
  br label %enter58
enter58:
  br label %for54
for54:
  %i54 = phi i64 [%v26, %enter58], [%i54.next, %for54]
  %v59 = sub i64 %cols, %i54
  %v60 = call i64 @llvm.smin.i64(i64 %v59, i64 16)
  %v61 = trunc i64 %v60 to i32
  %v62 = insertelement <16 x i32> poison, i32 %v61, i32 0
  %v63 = shufflevector <16 x i32> %v62, <16 x i32> poison, <16 x i32> zeroinitializer
  %v64 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v63
  %v65 = getelementptr float, ptr %v36, i64 %i54
  %v66 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v65, i32 4, <16 x i1> %v64, <16 x float> zeroinitializer)
  %v67 = getelementptr float, ptr %v39, i64 %i54
  %v68 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v67, i32 4, <16 x i1> %v64, <16 x float> zeroinitializer)
  %v69 = fadd <16 x float> %v66, %v68
  %v70 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v69, <16 x float> zeroinitializer)
  %v71 = getelementptr float, ptr %v36, i64 %i54
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v70, ptr %v71, i32 4, <16 x i1> %v64)
  %i54.next = add nsw i64 %i54, 16
  %v72 = icmp slt i64 %i54.next, %cols
  br i1 %v72, label %for54, label %done55
done55:
  br label %some24
some24:
  %i13.next = add nsw i64 %i13, 1
  %v73 = icmp slt i64 %i13.next, %rows
  br i1 %v73, label %for13, label %done14
done14:
  br label %exit2
exit2:
  ret void
}
