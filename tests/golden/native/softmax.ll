define i32 @run(ptr %inputs, ptr %outputs) nounwind {
entry:
  %stack1 = alloca i32, i64 1, align 64
  %stack20 = alloca i64, i64 25, align 64
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
  %v13 = add i64 %v10, 4
  %v14 = mul i64 %v10, 7
  %v15 = add i64 %v13, %v14
  %v16 = add i64 %v15, %v10
  %v17 = call i64 @llvm.smax.i64(i64 %v16, i64 1)
  %v18 = sdiv i64 40000, %v17
  %v19 = call i64 @llvm.smax.i64(i64 %v18, i64 1)
  %v21 = getelementptr i64, ptr %stack20, i64 0
  store i64 9223372036854775807, ptr %v21
  %v22 = getelementptr i64, ptr %stack20, i64 1
  store i64 0, ptr %v22
  %v23 = getelementptr i64, ptr %stack20, i64 2
  store i64 0, ptr %v23
  %v24 = getelementptr i64, ptr %stack20, i64 11
  store ptr %outputs, ptr %v24, align 8
  %v25 = getelementptr i64, ptr %stack20, i64 12
  store i64 %v10, ptr %v25, align 8
  %v26 = getelementptr i64, ptr %stack20, i64 13
  store i64 %v8, ptr %v26, align 8
  %v27 = getelementptr i64, ptr %stack20, i64 14
  store ptr %v6, ptr %v27, align 8
  %v28 = getelementptr i64, ptr %stack20, i64 15
  store ptr %v12, ptr %v28, align 8
  %v32 = icmp sgt i64 %v8, %v19
  br i1 %v32, label %many29, label %few30
many29:
  call void @graphify_parallel(ptr @turns.1, ptr %stack20, i64 %v8, i64 %v19)
  br label %after31
few30:
  call void @turns.1(ptr %stack20, i64 0, i64 %v8)
  br label %after31
after31:
  %v33 = getelementptr i64, ptr %stack20, i64 1
  %v34 = load i32, ptr %v33
  %v35 = icmp ne i32 %v34, 0
  br i1 %v35, label %out36, label %on37, !prof !0
out36:
  %v38 = getelementptr i64, ptr %stack20, i64 3
  %v39 = load i64, ptr %v38
  %v40 = getelementptr i64, ptr %v2, i64 0
  store i64 %v39, ptr %v40
  %v41 = getelementptr i64, ptr %stack20, i64 4
  %v42 = load i64, ptr %v41
  %v43 = getelementptr i64, ptr %v2, i64 1
  store i64 %v42, ptr %v43
  %v44 = getelementptr i64, ptr %stack20, i64 5
  %v45 = load i64, ptr %v44
  %v46 = getelementptr i64, ptr %v2, i64 2
  store i64 %v45, ptr %v46
  %v47 = getelementptr i64, ptr %stack20, i64 6
  %v48 = load i64, ptr %v47
  %v49 = getelementptr i64, ptr %v2, i64 3
  store i64 %v48, ptr %v49
  %v50 = getelementptr i64, ptr %stack20, i64 7
  %v51 = load i64, ptr %v50
  %v52 = getelementptr i64, ptr %v2, i64 4
  store i64 %v51, ptr %v52
  %v53 = getelementptr i64, ptr %stack20, i64 8
  %v54 = load i64, ptr %v53
  %v55 = getelementptr i64, ptr %v2, i64 5
  store i64 %v54, ptr %v55
  %v56 = getelementptr i64, ptr %stack20, i64 9
  %v57 = load i64, ptr %v56
  %v58 = getelementptr i64, ptr %v2, i64 6
  store i64 %v57, ptr %v58
  %v59 = getelementptr i64, ptr %stack20, i64 10
  %v60 = load i64, ptr %v59
  %v61 = getelementptr i64, ptr %v2, i64 7
  store i64 %v60, ptr %v61
  store i32 %v34, ptr %stack1
  br label %exit3
on37:
  br label %exit3
exit3:
  %v62 = load i32, ptr %stack1
  %v63 = icmp ne i32 %v62, 0
  ret i32 %v62
}

define internal void @turns.1(ptr %context, i64 %begin, i64 %end) noinline nounwind {
entry:
  %constants = call ptr asm "", "=r,0"(ptr @constants)
  %stack6 = alloca i32, i64 1, align 64
  %stack7 = alloca i64, i64 1, align 64
  %stack10 = alloca i64, i64 8, align 64
  %stack26 = alloca float, i64 1, align 64
  %stack34 = alloca <16 x float>, i64 1, align 64
  %stack35 = alloca <16 x float>, i64 1, align 64
  %stack36 = alloca <16 x float>, i64 1, align 64
  %stack37 = alloca <16 x float>, i64 1, align 64
  %stack38 = alloca <16 x float>, i64 1, align 64
  %stack39 = alloca <16 x float>, i64 1, align 64
  %stack40 = alloca <16 x float>, i64 1, align 64
  %stack41 = alloca <16 x float>, i64 1, align 64
  %stack134 = alloca double, i64 1, align 64
  %stack144 = alloca <16 x float>, i64 1, align 64
  %stack145 = alloca <16 x float>, i64 1, align 64
  %stack146 = alloca <16 x double>, i64 1, align 64
  %slots = alloca ptr, i64 1, align 64
  %arena = alloca i8, i64 1, align 64
  %v3 = getelementptr i64, ptr %context, i64 0
  %v4 = load atomic i64, ptr %v3 monotonic, align 8
  %v5 = icmp slt i64 %v4, %begin
  br i1 %v5, label %over2, label %go1, !prof !0
over2:
  ret void
go1:
  store i32 0, ptr %stack6
  %v8 = getelementptr i64, ptr %context, i64 11
  %v9 = load ptr, ptr %v8, align 8
  br label %body12
body12:
  %v13 = getelementptr i64, ptr %context, i64 12
  %v14 = load i64, ptr %v13, align 8
  %v15 = getelementptr i64, ptr %context, i64 13
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i64, ptr %context, i64 14
  %v18 = load ptr, ptr %v17, align 8
  %v19 = getelementptr i64, ptr %context, i64 15
  %v20 = load ptr, ptr %v19, align 8
  %v24 = icmp slt i64 %begin, %end
  br i1 %v24, label %first23, label %done22
first23:
  br label %enter25
enter25:
  br label %for21
for21:
  %i21 = phi i64 [%begin, %enter25], [%i21.next, %some233]
  store i64 %i21, ptr %stack7
  store float 0xFFF0000000000000, ptr %stack26
  %v27 = icmp sgt i64 %v14, 0
  br i1 %v27, label %some28, label %some29
some28:
  %v48 = mul i64 %i21, %v14
  %v49 = getelementptr float, ptr %v18, i64 %v48
  br label %vector30
vector30:
  %v31 = load float, ptr %stack26
  %v32 = insertelement <16 x float> poison, float %v31, i32 0
  %v33 = shufflevector <16 x float> %v32, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v33, ptr %stack34
  store <16 x float> %v33, ptr %stack35
  store <16 x float> %v33, ptr %stack36
  store <16 x float> %v33, ptr %stack37
  store <16 x float> %v33, ptr %stack38
  store <16 x float> %v33, ptr %stack39
  store <16 x float> %v33, ptr %stack40
  store <16 x float> %v33, ptr %stack41
  %v42 = and i64 %v14, -128
  %v46 = icmp slt i64 0, %v42
  br i1 %v46, label %first45, label %done44
first45:
  br label %enter47
enter47:
  br label %for43
for43:
  %i43 = phi i64 [0, %enter47], [%i43.next, %for43]
  %v50 = getelementptr float, ptr %v49, i64 %i43
  %v51 = load <16 x float>, ptr %v50, align 4
  %v52 = load <16 x float>, ptr %stack34
  %v53 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v52, <16 x float> %v51)
  store <16 x float> %v53, ptr %stack34
  %v54 = add i64 %i43, 16
  %v55 = getelementptr float, ptr %v49, i64 %v54
  %v56 = load <16 x float>, ptr %v55, align 4
  %v57 = load <16 x float>, ptr %stack35
  %v58 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v57, <16 x float> %v56)
  store <16 x float> %v58, ptr %stack35
  %v59 = add i64 %i43, 32
  %v60 = getelementptr float, ptr %v49, i64 %v59
  %v61 = load <16 x float>, ptr %v60, align 4
  %v62 = load <16 x float>, ptr %stack36
  %v63 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v62, <16 x float> %v61)
  store <16 x float> %v63, ptr %stack36
  %v64 = add i64 %i43, 48
  %v65 = getelementptr float, ptr %v49, i64 %v64
  %v66 = load <16 x float>, ptr %v65, align 4
  %v67 = load <16 x float>, ptr %stack37
  %v68 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v67, <16 x float> %v66)
  store <16 x float> %v68, ptr %stack37
  %v69 = add i64 %i43, 64
  %v70 = getelementptr float, ptr %v49, i64 %v69
  %v71 = load <16 x float>, ptr %v70, align 4
  %v72 = load <16 x float>, ptr %stack38
  %v73 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v72, <16 x float> %v71)
  store <16 x float> %v73, ptr %stack38
  %v74 = add i64 %i43, 80
  %v75 = getelementptr float, ptr %v49, i64 %v74
  %v76 = load <16 x float>, ptr %v75, align 4
  %v77 = load <16 x float>, ptr %stack39
  %v78 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v77, <16 x float> %v76)
  store <16 x float> %v78, ptr %stack39
  %v79 = add i64 %i43, 96
  %v80 = getelementptr float, ptr %v49, i64 %v79
  %v81 = load <16 x float>, ptr %v80, align 4
  %v82 = load <16 x float>, ptr %stack40
  %v83 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v82, <16 x float> %v81)
  store <16 x float> %v83, ptr %stack40
  %v84 = add i64 %i43, 112
  %v85 = getelementptr float, ptr %v49, i64 %v84
  %v86 = load <16 x float>, ptr %v85, align 4
  %v87 = load <16 x float>, ptr %stack41
  %v88 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v87, <16 x float> %v86)
  store <16 x float> %v88, ptr %stack41
  %i43.next = add nsw i64 %i43, 128
  %v89 = icmp slt i64 %i43.next, %v42
  br i1 %v89, label %for43, label %done44
done44:
  %v93 = icmp slt i64 %v42, %v14
  br i1 %v93, label %first92, label %done91
first92:
  br label %enter94
enter94:
  br label %for90
for90:
  %i90 = phi i64 [%v42, %enter94], [%i90.next, %for90]
  %v95 = sub i64 %v14, %i90
  %v96 = call i64 @llvm.smin.i64(i64 %v95, i64 16)
  %v97 = trunc i64 %v96 to i32
  %v98 = insertelement <16 x i32> poison, i32 %v97, i32 0
  %v99 = shufflevector <16 x i32> %v98, <16 x i32> poison, <16 x i32> zeroinitializer
  %v100 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v99
  %v101 = getelementptr float, ptr %v49, i64 %i90
  %v102 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v101, i32 4, <16 x i1> %v100, <16 x float> zeroinitializer)
  %v103 = load <16 x float>, ptr %stack34
  %v104 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v103, <16 x float> %v102)
  %v105 = select <16 x i1> %v100, <16 x float> %v104, <16 x float> %v103
  store <16 x float> %v105, ptr %stack34
  %i90.next = add nsw i64 %i90, 16
  %v106 = icmp slt i64 %i90.next, %v14
  br i1 %v106, label %for90, label %done91
done91:
  %v107 = load <16 x float>, ptr %stack34
  %v108 = load <16 x float>, ptr %stack35
  %v109 = load <16 x float>, ptr %stack36
  %v110 = load <16 x float>, ptr %stack37
  %v111 = load <16 x float>, ptr %stack38
  %v112 = load <16 x float>, ptr %stack39
  %v113 = load <16 x float>, ptr %stack40
  %v114 = load <16 x float>, ptr %stack41
  %v115 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v107, <16 x float> %v108)
  %v116 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v109, <16 x float> %v110)
  %v117 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v111, <16 x float> %v112)
  %v118 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v113, <16 x float> %v114)
  %v119 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v115, <16 x float> %v116)
  %v120 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v117, <16 x float> %v118)
  %v121 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v119, <16 x float> %v120)
  %v122 = shufflevector <16 x float> %v121, <16 x float> %v121, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v123 = shufflevector <16 x float> %v121, <16 x float> %v121, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v124 = call <8 x float> @maths.maximum.v8f32(<8 x float> %v122, <8 x float> %v123)
  %v125 = shufflevector <8 x float> %v124, <8 x float> %v124, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v126 = shufflevector <8 x float> %v124, <8 x float> %v124, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v127 = call <4 x float> @maths.maximum.v4f32(<4 x float> %v125, <4 x float> %v126)
  %v128 = shufflevector <4 x float> %v127, <4 x float> %v127, <2 x i32> <i32 0, i32 1>
  %v129 = shufflevector <4 x float> %v127, <4 x float> %v127, <2 x i32> <i32 2, i32 3>
  %v130 = call <2 x float> @maths.maximum.v2f32(<2 x float> %v128, <2 x float> %v129)
  %v131 = extractelement <2 x float> %v130, i64 0
  %v132 = extractelement <2 x float> %v130, i64 1
  %v133 = call float @maths.maximum.f32(float %v131, float %v132)
  store float %v133, ptr %stack26
  br label %some29
some29:
  %v135 = fpext float 0x0000000000000000 to double
  store double %v135, ptr %stack134
  %v136 = icmp sgt i64 %v14, 0
  br i1 %v136, label %some137, label %some138
some137:
  %v161 = mul i64 %i21, %v14
  %v162 = getelementptr float, ptr %v18, i64 %v161
  %v165 = load float, ptr %stack26
  %v166 = insertelement <16 x float> poison, float %v165, i32 0
  %v167 = shufflevector <16 x float> %v166, <16 x float> poison, <16 x i32> zeroinitializer
  %v170 = getelementptr float, ptr %v20, i64 %v161
  br label %vector139
vector139:
  %v140 = getelementptr i8, ptr %constants, i64 0
  %v141 = load float, ptr %v140
  %v142 = insertelement <16 x float> poison, float %v141, i32 0
  %v143 = shufflevector <16 x float> %v142, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v143, ptr %stack144
  store <16 x float> %v143, ptr %stack145
  %v147 = fpext <16 x float> %v143 to <16 x double>
  store <16 x double> %v147, ptr %stack146
  %v148 = and i64 %v14, -32
  %v152 = icmp slt i64 0, %v148
  br i1 %v152, label %first151, label %done150
first151:
  br label %enter153
enter153:
  br label %for149
for149:
  %i149 = phi i64 [0, %enter153], [%i149.next, %done157]
  %v154 = add i64 %i149, 512
  %v155 = call i64 @llvm.smin.i64(i64 %v154, i64 %v148)
  %v159 = icmp slt i64 %i149, %v155
  br i1 %v159, label %first158, label %done157
first158:
  br label %enter160
enter160:
  br label %for156
for156:
  %i156 = phi i64 [%i149, %enter160], [%i156.next, %for156]
  %v163 = getelementptr float, ptr %v162, i64 %i156
  %v164 = load <16 x float>, ptr %v163, align 4
  %v168 = fsub <16 x float> %v164, %v167
  %v169 = call <16 x float> @maths.exp.v16f32(<16 x float> %v168)
  %v171 = getelementptr float, ptr %v170, i64 %i156
  store <16 x float> %v169, ptr %v171, align 4
  %v172 = load <16 x float>, ptr %stack144
  %v173 = fadd <16 x float> %v172, %v169
  store <16 x float> %v173, ptr %stack144
  %v174 = add i64 %i156, 16
  %v175 = getelementptr float, ptr %v162, i64 %v174
  %v176 = load <16 x float>, ptr %v175, align 4
  %v177 = fsub <16 x float> %v176, %v167
  %v178 = call <16 x float> @maths.exp.v16f32(<16 x float> %v177)
  %v179 = getelementptr float, ptr %v170, i64 %v174
  store <16 x float> %v178, ptr %v179, align 4
  %v180 = load <16 x float>, ptr %stack145
  %v181 = fadd <16 x float> %v180, %v178
  store <16 x float> %v181, ptr %stack145
  %i156.next = add nsw i64 %i156, 32
  %v182 = icmp slt i64 %i156.next, %v155
  br i1 %v182, label %for156, label %done157
done157:
  %v183 = load <16 x float>, ptr %stack144
  %v184 = load <16 x float>, ptr %stack145
  %v185 = fadd <16 x float> %v183, %v184
  %v186 = fpext <16 x float> %v185 to <16 x double>
  %v187 = load <16 x double>, ptr %stack146
  %v188 = fadd <16 x double> %v187, %v186
  store <16 x double> %v188, ptr %stack146
  store <16 x float> %v143, ptr %stack144
  store <16 x float> %v143, ptr %stack145
  %i149.next = add nsw i64 %i149, 512
  %v189 = icmp slt i64 %i149.next, %v148
  br i1 %v189, label %for149, label %done150
done150:
  %v193 = icmp slt i64 %v148, %v14
  br i1 %v193, label %first192, label %done191
first192:
  br label %enter194
enter194:
  br label %for190
for190:
  %i190 = phi i64 [%v148, %enter194], [%i190.next, %for190]
  %v195 = sub i64 %v14, %i190
  %v196 = call i64 @llvm.smin.i64(i64 %v195, i64 16)
  %v197 = trunc i64 %v196 to i32
  %v198 = insertelement <16 x i32> poison, i32 %v197, i32 0
  %v199 = shufflevector <16 x i32> %v198, <16 x i32> poison, <16 x i32> zeroinitializer
  %v200 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v199
  %v201 = getelementptr float, ptr %v162, i64 %i190
  %v202 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v201, i32 4, <16 x i1> %v200, <16 x float> zeroinitializer)
  %v203 = fsub <16 x float> %v202, %v167
  %v204 = call <16 x float> @maths.exp.v16f32(<16 x float> %v203)
  %v205 = getelementptr float, ptr %v170, i64 %i190
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v204, ptr %v205, i32 4, <16 x i1> %v200)
  %v206 = load <16 x float>, ptr %stack144
  %v207 = fadd <16 x float> %v206, %v204
  %v208 = select <16 x i1> %v200, <16 x float> %v207, <16 x float> %v206
  store <16 x float> %v208, ptr %stack144
  %i190.next = add nsw i64 %i190, 16
  %v209 = icmp slt i64 %i190.next, %v14
  br i1 %v209, label %for190, label %done191
done191:
  %v210 = load <16 x float>, ptr %stack144
  %v211 = load <16 x float>, ptr %stack145
  %v212 = fadd <16 x float> %v210, %v211
  %v213 = fpext <16 x float> %v212 to <16 x double>
  %v214 = load <16 x double>, ptr %stack146
  %v215 = fadd <16 x double> %v214, %v213
  store <16 x double> %v215, ptr %stack146
  store <16 x float> %v143, ptr %stack144
  store <16 x float> %v143, ptr %stack145
  %v216 = load <16 x double>, ptr %stack146
  %v217 = shufflevector <16 x double> %v216, <16 x double> %v216, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v218 = shufflevector <16 x double> %v216, <16 x double> %v216, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v219 = fadd <8 x double> %v217, %v218
  %v220 = shufflevector <8 x double> %v219, <8 x double> %v219, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v221 = shufflevector <8 x double> %v219, <8 x double> %v219, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v222 = fadd <4 x double> %v220, %v221
  %v223 = shufflevector <4 x double> %v222, <4 x double> %v222, <2 x i32> <i32 0, i32 1>
  %v224 = shufflevector <4 x double> %v222, <4 x double> %v222, <2 x i32> <i32 2, i32 3>
  %v225 = fadd <2 x double> %v223, %v224
  %v226 = extractelement <2 x double> %v225, i64 0
  %v227 = extractelement <2 x double> %v225, i64 1
  %v228 = fadd double %v226, %v227
  %v229 = load double, ptr %stack134
  %v230 = fadd double %v229, %v228
  store double %v230, ptr %stack134
  br label %some138
some138:
  %v231 = icmp sgt i64 %v14, 0
  br i1 %v231, label %some232, label %some233
some232:
  %v241 = mul i64 %i21, %v14
  %v242 = getelementptr float, ptr %v20, i64 %v241
  %v245 = load double, ptr %stack134
  %v246 = fptrunc double %v245 to float
  %v247 = insertelement <16 x float> poison, float %v246, i32 0
  %v248 = shufflevector <16 x float> %v247, <16 x float> poison, <16 x i32> zeroinitializer
  br label %vector234
vector234:
  %v235 = and i64 %v14, -32
  %v239 = icmp slt i64 0, %v235
  br i1 %v239, label %first238, label %done237
first238:
  br label %enter240
enter240:
  br label %for236
for236:
  %i236 = phi i64 [0, %enter240], [%i236.next, %for236]
  %v243 = getelementptr float, ptr %v242, i64 %i236
  %v244 = load <16 x float>, ptr %v243, align 4
  %v249 = fdiv <16 x float> %v244, %v248
  %v250 = getelementptr float, ptr %v242, i64 %i236
  store <16 x float> %v249, ptr %v250, align 4
  %v251 = add i64 %i236, 16
  %v252 = getelementptr float, ptr %v242, i64 %v251
  %v253 = load <16 x float>, ptr %v252, align 4
  %v254 = fdiv <16 x float> %v253, %v248
  %v255 = getelementptr float, ptr %v242, i64 %v251
  store <16 x float> %v254, ptr %v255, align 4
  %i236.next = add nsw i64 %i236, 32
  %v256 = icmp slt i64 %i236.next, %v235
  br i1 %v256, label %for236, label %done237
done237:
  %v260 = icmp slt i64 %v235, %v14
  br i1 %v260, label %first259, label %done258
first259:
  br label %enter261
enter261:
  br label %for257
for257:
  %i257 = phi i64 [%v235, %enter261], [%i257.next, %for257]
  %v262 = sub i64 %v14, %i257
  %v263 = call i64 @llvm.smin.i64(i64 %v262, i64 16)
  %v264 = trunc i64 %v263 to i32
  %v265 = insertelement <16 x i32> poison, i32 %v264, i32 0
  %v266 = shufflevector <16 x i32> %v265, <16 x i32> poison, <16 x i32> zeroinitializer
  %v267 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v266
  %v268 = getelementptr float, ptr %v242, i64 %i257
  %v269 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v268, i32 4, <16 x i1> %v267, <16 x float> zeroinitializer)
  %v270 = fdiv <16 x float> %v269, %v248
  %v271 = getelementptr float, ptr %v242, i64 %i257
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v270, ptr %v271, i32 4, <16 x i1> %v267)
  %i257.next = add nsw i64 %i257, 16
  %v272 = icmp slt i64 %i257.next, %v14
  br i1 %v272, label %for257, label %done258
done258:
  br label %some233
some233:
  %i21.next = add nsw i64 %i21, 1
  %v273 = icmp slt i64 %i21.next, %end
  br i1 %v273, label %for21, label %done22
done22:
  br label %exit11
exit11:
  %v274 = load i32, ptr %stack6
  %v275 = icmp ne i32 %v274, 0
  br i1 %v275, label %report276, label %reported277, !prof !0
report276:
  %v278 = load i64, ptr %stack7
  call void @report_failure(ptr %context, i64 %v278, i32 %v274, ptr %stack10)
  br label %reported277
reported277:
  ret void
}

define internal void @report_failure(ptr %shared, i64 %turn, i32 %status, ptr %words) noinline cold nounwind {
entry:
  %v1 = getelementptr i64, ptr %shared, i64 2
  br label %wait2
wait2:
  %v4 = atomicrmw xchg ptr %v1, i64 1 acquire
  %v5 = icmp eq i64 %v4, 0
  br i1 %v5, label %got3, label %wait2
got3:
  %v6 = getelementptr i64, ptr %shared, i64 0
  %v7 = load i64, ptr %v6
  %v8 = icmp slt i64 %turn, %v7
  br i1 %v8, label %then9, label %then10
then9:
  store atomic i64 %turn, ptr %v6 monotonic, align 8
  %v11 = zext i32 %status to i64
  %v12 = getelementptr i64, ptr %shared, i64 1
  store i64 %v11, ptr %v12
  %v13 = getelementptr i64, ptr %words, i64 0
  %v14 = load i64, ptr %v13
  %v15 = getelementptr i64, ptr %shared, i64 3
  store i64 %v14, ptr %v15
  %v16 = getelementptr i64, ptr %words, i64 1
  %v17 = load i64, ptr %v16
  %v18 = getelementptr i64, ptr %shared, i64 4
  store i64 %v17, ptr %v18
  %v19 = getelementptr i64, ptr %words, i64 2
  %v20 = load i64, ptr %v19
  %v21 = getelementptr i64, ptr %shared, i64 5
  store i64 %v20, ptr %v21
  %v22 = getelementptr i64, ptr %words, i64 3
  %v23 = load i64, ptr %v22
  %v24 = getelementptr i64, ptr %shared, i64 6
  store i64 %v23, ptr %v24
  %v25 = getelementptr i64, ptr %words, i64 4
  %v26 = load i64, ptr %v25
  %v27 = getelementptr i64, ptr %shared, i64 7
  store i64 %v26, ptr %v27
  %v28 = getelementptr i64, ptr %words, i64 5
  %v29 = load i64, ptr %v28
  %v30 = getelementptr i64, ptr %shared, i64 8
  store i64 %v29, ptr %v30
  %v31 = getelementptr i64, ptr %words, i64 6
  %v32 = load i64, ptr %v31
  %v33 = getelementptr i64, ptr %shared, i64 9
  store i64 %v32, ptr %v33
  %v34 = getelementptr i64, ptr %words, i64 7
  %v35 = load i64, ptr %v34
  %v36 = getelementptr i64, ptr %shared, i64 10
  store i64 %v35, ptr %v36
  br label %then10
then10:
  store atomic i64 0, ptr %v1 release, align 8
  ret void
}
