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
  store i64 %v8, ptr %v24, align 8
  %v25 = getelementptr i64, ptr %stack23, i64 1
  store i64 %v16, ptr %v25, align 8
  %v26 = getelementptr i64, ptr %stack23, i64 2
  store i64 %v20, ptr %v26, align 8
  %v27 = getelementptr i64, ptr %stack23, i64 3
  store ptr %v18, ptr %v27, align 8
  %v28 = getelementptr i64, ptr %stack23, i64 4
  store ptr %v22, ptr %v28, align 8
  %v29 = call i32 @graphify_matmul_float32(ptr %v6, i64 %v10, i64 1, ptr %v12, i64 %v16, i64 1, ptr %v22, i64 %v16, i64 1, i64 %v8, i64 %v16, i64 %v10, ptr @epilogue.1, ptr %stack23)
  %v30 = icmp ne i32 %v29, 0
  br i1 %v30, label %out31, label %on32, !prof !0
out31:
  store i32 -1, ptr %stack1
  br label %exit3
on32:
  br label %exit3
exit3:
  %v33 = load i32, ptr %stack1
  %v34 = icmp ne i32 %v33, 0
  ret i32 %v33
}

define internal void @epilogue.1(ptr %context, ptr %tile, i64 %c_row, i64 %c_col, i64 %first_row, i64 %first_col, i64 %rows, i64 %cols) nounwind "scalar-loops" {
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
  ; for t0 in n0:
  %v16 = icmp slt i64 0, %rows
  br i1 %v16, label %first15, label %done14
first15:
  %v33 = mul i64 %first_row, %v6
  %v34 = add i64 %v33, %first_col
  %v35 = getelementptr float, ptr %v12, i64 %v34
  %v40 = getelementptr float, ptr %v10, i64 %first_col
  br label %enter17
enter17:
  br label %for13
for13:
  %i13 = phi i64 [0, %enter17], [%i13.next, %some24]
  %v20 = and i64 %i13, 7
  %v21 = icmp eq i64 %v20, 7
  br i1 %v21, label %due18, label %on19, !prof !0
due18:
  br label %on19
on19:
  ; vector for t1 in n1:
  %v22 = icmp sgt i64 %cols, 0
  br i1 %v22, label %some23, label %some24
some23:
  br label %steps25
steps25:
  %v36 = mul i64 %i13, %v6
  %v37 = getelementptr float, ptr %v35, i64 %v36
  br label %vector26
vector26:
  %v27 = and i64 %cols, -32
  %v31 = icmp slt i64 0, %v27
  br i1 %v31, label %first30, label %done29
first30:
  br label %enter32
enter32:
  br label %for28
for28:
  %i28 = phi i64 [0, %enter32], [%i28.next, %for28]
  %v38 = getelementptr float, ptr %v37, i64 %i28
  %v39 = load <16 x float>, ptr %v38, align 4
  %v41 = getelementptr float, ptr %v40, i64 %i28
  %v42 = load <16 x float>, ptr %v41, align 4
  %v43 = fadd <16 x float> %v39, %v42
  %v44 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v43, <16 x float> zeroinitializer)
  %v45 = getelementptr float, ptr %v37, i64 %i28
  store <16 x float> %v44, ptr %v45, align 4
  %v46 = add i64 %i28, 16
  %v47 = getelementptr float, ptr %v37, i64 %v46
  %v48 = load <16 x float>, ptr %v47, align 4
  %v49 = getelementptr float, ptr %v40, i64 %v46
  %v50 = load <16 x float>, ptr %v49, align 4
  %v51 = fadd <16 x float> %v48, %v50
  %v52 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v51, <16 x float> zeroinitializer)
  %v53 = getelementptr float, ptr %v37, i64 %v46
  store <16 x float> %v52, ptr %v53, align 4
  %i28.next = add nsw i64 %i28, 32
  %v54 = icmp slt i64 %i28.next, %v27
  br i1 %v54, label %for28, label %done29
done29:
  %v58 = icmp slt i64 %v27, %cols
  br i1 %v58, label %first57, label %done56
first57:
  br label %enter59
enter59:
  br label %for55
for55:
  %i55 = phi i64 [%v27, %enter59], [%i55.next, %for55]
  %v60 = sub i64 %cols, %i55
  %v61 = call i64 @llvm.smin.i64(i64 %v60, i64 16)
  %v62 = trunc i64 %v61 to i32
  %v63 = insertelement <16 x i32> poison, i32 %v62, i32 0
  %v64 = shufflevector <16 x i32> %v63, <16 x i32> poison, <16 x i32> zeroinitializer
  %v65 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v64
  %v66 = getelementptr float, ptr %v37, i64 %i55
  %v67 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v66, i32 4, <16 x i1> %v65, <16 x float> zeroinitializer)
  %v68 = getelementptr float, ptr %v40, i64 %i55
  %v69 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v68, i32 4, <16 x i1> %v65, <16 x float> zeroinitializer)
  %v70 = fadd <16 x float> %v67, %v69
  %v71 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v70, <16 x float> zeroinitializer)
  %v72 = getelementptr float, ptr %v37, i64 %i55
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v71, ptr %v72, i32 4, <16 x i1> %v65)
  %i55.next = add nsw i64 %i55, 16
  %v73 = icmp slt i64 %i55.next, %cols
  br i1 %v73, label %for55, label %done56
done56:
  br label %some24
some24:
  %i13.next = add nsw i64 %i13, 1
  %v74 = icmp slt i64 %i13.next, %rows
  br i1 %v74, label %for13, label %done14
done14:
  br label %exit2
exit2:
  ret void
}
