define i32 @run(ptr %inputs, ptr %outputs) nounwind {
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
  %v24 = icmp eq i64 %v23, 0
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
  %v47 = icmp eq i64 %v46, 0
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
  %v58 = icmp sgt i64 %v38, 0
  br i1 %v58, label %some59, label %some60
some59:
  %v71 = insertelement <8 x double> poison, double %v57, i32 0
  %v72 = shufflevector <8 x double> %v71, <8 x double> poison, <8 x i32> zeroinitializer
  br label %vector61
vector61:
  %v62 = and i64 %v38, -16
  %v66 = icmp slt i64 0, %v62
  br i1 %v66, label %first65, label %done64
first65:
  br label %enter67
enter67:
  br label %for63
for63:
  %i63 = phi i64 [0, %enter67], [%i63.next, %for63]
  %v68 = getelementptr double, ptr %v55, i64 1
  %v69 = getelementptr double, ptr %v68, i64 %i63
  %v70 = load <8 x double>, ptr %v69, align 8
  %v73 = getelementptr double, ptr %v31, i64 1
  %v74 = getelementptr double, ptr %v73, i64 %i63
  %v75 = load <8 x double>, ptr %v74, align 8
  %v76 = fmul <8 x double> %v72, %v75
  %v77 = fsub <8 x double> %v70, %v76
  %v78 = getelementptr double, ptr %v55, i64 1
  %v79 = getelementptr double, ptr %v78, i64 %i63
  store <8 x double> %v77, ptr %v79, align 8
  %v80 = add i64 %i63, 8
  %v81 = getelementptr double, ptr %v55, i64 1
  %v82 = getelementptr double, ptr %v81, i64 %v80
  %v83 = load <8 x double>, ptr %v82, align 8
  %v84 = getelementptr double, ptr %v31, i64 1
  %v85 = getelementptr double, ptr %v84, i64 %v80
  %v86 = load <8 x double>, ptr %v85, align 8
  %v87 = fmul <8 x double> %v72, %v86
  %v88 = fsub <8 x double> %v83, %v87
  %v89 = getelementptr double, ptr %v55, i64 1
  %v90 = getelementptr double, ptr %v89, i64 %v80
  store <8 x double> %v88, ptr %v90, align 8
  %i63.next = add nsw i64 %i63, 16
  %v91 = icmp slt i64 %i63.next, %v62
  br i1 %v91, label %for63, label %done64
done64:
  %v95 = icmp slt i64 %v62, %v38
  br i1 %v95, label %first94, label %done93
first94:
  br label %enter96
enter96:
  br label %for92
for92:
  %i92 = phi i64 [%v62, %enter96], [%i92.next, %for92]
  %v97 = sub i64 %v38, %i92
  %v98 = call i64 @llvm.smin.i64(i64 %v97, i64 8)
  %v99 = insertelement <8 x i64> poison, i64 %v98, i32 0
  %v100 = shufflevector <8 x i64> %v99, <8 x i64> poison, <8 x i32> zeroinitializer
  %v101 = icmp ult <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, %v100
  %v102 = getelementptr double, ptr %v55, i64 1
  %v103 = getelementptr double, ptr %v102, i64 %i92
  %v104 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %v103, i32 8, <8 x i1> %v101, <8 x double> zeroinitializer)
  %v105 = getelementptr double, ptr %v31, i64 1
  %v106 = getelementptr double, ptr %v105, i64 %i92
  %v107 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %v106, i32 8, <8 x i1> %v101, <8 x double> zeroinitializer)
  %v108 = fmul <8 x double> %v72, %v107
  %v109 = fsub <8 x double> %v104, %v108
  %v110 = getelementptr double, ptr %v55, i64 1
  %v111 = getelementptr double, ptr %v110, i64 %i92
  call void @llvm.masked.store.v8f64.p0(<8 x double> %v109, ptr %v111, i32 8, <8 x i1> %v101)
  %i92.next = add nsw i64 %i92, 8
  %v112 = icmp slt i64 %i92.next, %v38
  br i1 %v112, label %for92, label %done93
done93:
  br label %some60
some60:
  %i39.next = add nsw i64 %i39, 1
  %v113 = icmp slt i64 %i39.next, %v38
  br i1 %v113, label %for39, label %done40
done40:
  %i16.next = add nsw i64 %i16, 1
  %v114 = icmp slt i64 %i16.next, %v8
  br i1 %v114, label %for16, label %done17
done17:
  br label %exit3
exit3:
  %v115 = load i32, ptr %stack1
  %v116 = icmp ne i32 %v115, 0
  ret i32 %v115
}
