define i32 @run(ptr %inputs, ptr %outputs) nounwind "scalar-loops" {
entry:
  %stack1 = alloca i32, i64 1, align 64
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
  %v11 = getelementptr i64, ptr %outputs, i64 0
  %v12 = load ptr, ptr %v11
  %v13 = mul i64 %v8, 8
  %v14 = mul i64 %v13, %v8
  %v15 = call ptr @memmove(ptr %v12, ptr %v6, i64 %v14)
  ; for k in x0:
  %v19 = icmp slt i64 0, %v8
  br i1 %v19, label %first18, label %done17
first18:
  %v52 = getelementptr double, ptr %v12, i64 %v8
  br label %enter20
enter20:
  br label %for16
for16:
  %i16 = phi i64 [0, %enter20], [%i16.next, %done40]
  %v23 = and i64 %i16, 7
  %v24 = icmp eq i64 %v23, 7
  br i1 %v24, label %due21, label %on22, !prof !0
due21:
  %v25 = call i32 @graphify_poll()
  %v26 = icmp ne i32 %v25, 0
  br i1 %v26, label %out27, label %on28, !prof !0
out27:
  store i32 -1, ptr %stack1
  br label %exit3
on28:
  br label %on22
on22:
  %v29 = mul i64 %i16, %v8
  %v30 = add i64 %v29, %i16
  %v31 = getelementptr double, ptr %v12, i64 %v30
  %v32 = load double, ptr %v31, align 8
  %v33 = fcmp oeq double %v32, 0x0000000000000000
  br i1 %v33, label %out34, label %on35, !prof !0
out34:
  %v36 = getelementptr i64, ptr %v2, i64 0
  store i64 %i16, ptr %v36
  store i32 1, ptr %stack1
  br label %exit3
on35:
  ; for i in (x0 - k) - 1:
  %v37 = sub i64 %v8, %i16
  %v38 = add i64 %v37, -1
  %v42 = icmp slt i64 0, %v38
  br i1 %v42, label %first41, label %done40
first41:
  %v53 = getelementptr double, ptr %v52, i64 %v30
  br label %enter43
enter43:
  br label %for39
for39:
  %i39 = phi i64 [0, %enter43], [%i39.next, %some60]
  %v46 = and i64 %i39, 7
  %v47 = icmp eq i64 %v46, 7
  br i1 %v47, label %due44, label %on45, !prof !0
due44:
  %v48 = call i32 @graphify_poll()
  %v49 = icmp ne i32 %v48, 0
  br i1 %v49, label %out50, label %on51, !prof !0
out50:
  store i32 -1, ptr %stack1
  br label %exit3
on51:
  br label %on45
on45:
  %v54 = mul i64 %i39, %v8
  %v55 = getelementptr double, ptr %v53, i64 %v54
  %v56 = load double, ptr %v55, align 8
  %v57 = fdiv double %v56, %v32
  store double %v57, ptr %v55, align 8
  ; vector for j in (x0 - k) - 1:
  %v58 = icmp sgt i64 %v38, 0
  br i1 %v58, label %some59, label %some60
some59:
  br label %steps61
steps61:
  %v72 = insertelement <8 x double> poison, double %v57, i32 0
  %v73 = shufflevector <8 x double> %v72, <8 x double> poison, <8 x i32> zeroinitializer
  br label %vector62
vector62:
  %v63 = and i64 %v38, -16
  %v67 = icmp slt i64 0, %v63
  br i1 %v67, label %first66, label %done65
first66:
  br label %enter68
enter68:
  br label %for64
for64:
  %i64 = phi i64 [0, %enter68], [%i64.next, %for64]
  %v69 = getelementptr double, ptr %v55, i64 1
  %v70 = getelementptr double, ptr %v69, i64 %i64
  %v71 = load <8 x double>, ptr %v70, align 8
  %v74 = getelementptr double, ptr %v31, i64 1
  %v75 = getelementptr double, ptr %v74, i64 %i64
  %v76 = load <8 x double>, ptr %v75, align 8
  %v77 = fmul <8 x double> %v73, %v76
  %v78 = fsub <8 x double> %v71, %v77
  %v79 = getelementptr double, ptr %v55, i64 1
  %v80 = getelementptr double, ptr %v79, i64 %i64
  store <8 x double> %v78, ptr %v80, align 8
  %v81 = add i64 %i64, 8
  %v82 = getelementptr double, ptr %v55, i64 1
  %v83 = getelementptr double, ptr %v82, i64 %v81
  %v84 = load <8 x double>, ptr %v83, align 8
  %v85 = getelementptr double, ptr %v31, i64 1
  %v86 = getelementptr double, ptr %v85, i64 %v81
  %v87 = load <8 x double>, ptr %v86, align 8
  %v88 = fmul <8 x double> %v73, %v87
  %v89 = fsub <8 x double> %v84, %v88
  %v90 = getelementptr double, ptr %v55, i64 1
  %v91 = getelementptr double, ptr %v90, i64 %v81
  store <8 x double> %v89, ptr %v91, align 8
  %i64.next = add nsw i64 %i64, 16
  %v92 = icmp slt i64 %i64.next, %v63
  br i1 %v92, label %for64, label %done65
done65:
  %v96 = icmp slt i64 %v63, %v38
  br i1 %v96, label %first95, label %done94
first95:
  br label %enter97
enter97:
  br label %for93
for93:
  %i93 = phi i64 [%v63, %enter97], [%i93.next, %for93]
  %v98 = sub i64 %v38, %i93
  %v99 = call i64 @llvm.smin.i64(i64 %v98, i64 8)
  %v100 = insertelement <8 x i64> poison, i64 %v99, i32 0
  %v101 = shufflevector <8 x i64> %v100, <8 x i64> poison, <8 x i32> zeroinitializer
  %v102 = icmp ult <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, %v101
  %v103 = getelementptr double, ptr %v55, i64 1
  %v104 = getelementptr double, ptr %v103, i64 %i93
  %v105 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %v104, i32 8, <8 x i1> %v102, <8 x double> zeroinitializer)
  %v106 = getelementptr double, ptr %v31, i64 1
  %v107 = getelementptr double, ptr %v106, i64 %i93
  %v108 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %v107, i32 8, <8 x i1> %v102, <8 x double> zeroinitializer)
  %v109 = fmul <8 x double> %v73, %v108
  %v110 = fsub <8 x double> %v105, %v109
  %v111 = getelementptr double, ptr %v55, i64 1
  %v112 = getelementptr double, ptr %v111, i64 %i93
  call void @llvm.masked.store.v8f64.p0(<8 x double> %v110, ptr %v112, i32 8, <8 x i1> %v102)
  %i93.next = add nsw i64 %i93, 8
  %v113 = icmp slt i64 %i93.next, %v38
  br i1 %v113, label %for93, label %done94
done94:
  br label %some60
some60:
  %i39.next = add nsw i64 %i39, 1
  %v114 = icmp slt i64 %i39.next, %v38
  br i1 %v114, label %for39, label %done40
done40:
  %i16.next = add nsw i64 %i16, 1
  %v115 = icmp slt i64 %i16.next, %v8
  br i1 %v115, label %for16, label %done17
done17:
  br label %exit3
exit3:
  %v116 = load i32, ptr %stack1
  %v117 = icmp ne i32 %v116, 0
  ret i32 %v116
}
