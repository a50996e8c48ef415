define i32 @run(ptr %inputs, ptr %outputs) nounwind {
entry:
  %stack1 = alloca i32, i64 1, align 64
  %stack24 = alloca i64, i64 25, align 64
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
  ; parallel for i in x0:
  %v13 = mul i64 %v10, 32
  %v14 = add i64 %v13, 5500
  %v15 = mul i64 %v10, 190
  %v16 = add i64 %v15, 5000
  %v17 = add i64 %v14, %v16
  %v18 = mul i64 %v10, 82
  %v19 = add i64 %v18, 5000
  %v20 = add i64 %v17, %v19
  %v21 = call i64 @llvm.smax.i64(i64 %v20, i64 1)
  %v22 = sdiv i64 4999999, %v21
  %v23 = add i64 %v22, 1
  %v25 = getelementptr i64, ptr %stack24, i64 0
  store i64 9223372036854775807, ptr %v25
  %v26 = getelementptr i64, ptr %stack24, i64 1
  store i64 0, ptr %v26
  %v27 = getelementptr i64, ptr %stack24, i64 2
  store i64 0, ptr %v27
  %v28 = getelementptr i64, ptr %stack24, i64 11
  store ptr %outputs, ptr %v28, align 8
  %v29 = getelementptr i64, ptr %stack24, i64 12
  store i64 %v10, ptr %v29, align 8
  %v30 = getelementptr i64, ptr %stack24, i64 13
  store i64 %v8, ptr %v30, align 8
  %v31 = getelementptr i64, ptr %stack24, i64 14
  store ptr %v6, ptr %v31, align 8
  %v32 = getelementptr i64, ptr %stack24, i64 15
  store ptr %v12, ptr %v32, align 8
  %v36 = icmp sgt i64 %v8, %v23
  br i1 %v36, label %many33, label %few34
many33:
  call void @graphify_parallel(ptr @turns.1, ptr %stack24, i64 %v8, i64 %v23)
  br label %after35
few34:
  call void @turns.1(ptr %stack24, i64 0, i64 %v8)
  br label %after35
after35:
  %v37 = getelementptr i64, ptr %stack24, i64 1
  %v38 = load i32, ptr %v37
  %v39 = icmp ne i32 %v38, 0
  br i1 %v39, label %out40, label %on41, !prof !0
out40:
  %v42 = getelementptr i64, ptr %stack24, i64 3
  %v43 = load i64, ptr %v42
  %v44 = getelementptr i64, ptr %v2, i64 0
  store i64 %v43, ptr %v44
  %v45 = getelementptr i64, ptr %stack24, i64 4
  %v46 = load i64, ptr %v45
  %v47 = getelementptr i64, ptr %v2, i64 1
  store i64 %v46, ptr %v47
  %v48 = getelementptr i64, ptr %stack24, i64 5
  %v49 = load i64, ptr %v48
  %v50 = getelementptr i64, ptr %v2, i64 2
  store i64 %v49, ptr %v50
  %v51 = getelementptr i64, ptr %stack24, i64 6
  %v52 = load i64, ptr %v51
  %v53 = getelementptr i64, ptr %v2, i64 3
  store i64 %v52, ptr %v53
  %v54 = getelementptr i64, ptr %stack24, i64 7
  %v55 = load i64, ptr %v54
  %v56 = getelementptr i64, ptr %v2, i64 4
  store i64 %v55, ptr %v56
  %v57 = getelementptr i64, ptr %stack24, i64 8
  %v58 = load i64, ptr %v57
  %v59 = getelementptr i64, ptr %v2, i64 5
  store i64 %v58, ptr %v59
  %v60 = getelementptr i64, ptr %stack24, i64 9
  %v61 = load i64, ptr %v60
  %v62 = getelementptr i64, ptr %v2, i64 6
  store i64 %v61, ptr %v62
  %v63 = getelementptr i64, ptr %stack24, i64 10
  %v64 = load i64, ptr %v63
  %v65 = getelementptr i64, ptr %v2, i64 7
  store i64 %v64, ptr %v65
  store i32 %v38, ptr %stack1
  br label %exit3
on41:
  br label %exit3
exit3:
  %v66 = load i32, ptr %stack1
  %v67 = icmp ne i32 %v66, 0
  ret i32 %v66
}

define internal void @turns.1(ptr %context, i64 %begin, i64 %end) noinline nounwind {
entry:
  %constants = call ptr asm "", "=r,0"(ptr @constants)
  %stack6 = alloca i32, i64 1, align 64
  %stack7 = alloca i64, i64 1, align 64
  %stack10 = alloca i64, i64 8, align 64
  %stack26 = alloca float, i64 1, align 64
  %stack35 = alloca <16 x float>, i64 1, align 64
  %stack36 = alloca <16 x float>, i64 1, align 64
  %stack37 = alloca <16 x float>, i64 1, align 64
  %stack38 = alloca <16 x float>, i64 1, align 64
  %stack39 = alloca <16 x float>, i64 1, align 64
  %stack40 = alloca <16 x float>, i64 1, align 64
  %stack41 = alloca <16 x float>, i64 1, align 64
  %stack42 = alloca <16 x float>, i64 1, align 64
  %stack43 = alloca <16 x i1>, i64 1, align 64
  %stack44 = alloca <16 x i1>, i64 1, align 64
  %stack45 = alloca <16 x i1>, i64 1, align 64
  %stack46 = alloca <16 x i1>, i64 1, align 64
  %stack47 = alloca <16 x i1>, i64 1, align 64
  %stack48 = alloca <16 x i1>, i64 1, align 64
  %stack49 = alloca <16 x i1>, i64 1, align 64
  %stack50 = alloca <16 x i1>, i64 1, align 64
  %stack199 = alloca double, i64 1, align 64
  %stack210 = alloca <16 x double>, i64 1, align 64
  %stack212 = alloca <16 x float>, i64 1, align 64
  %stack213 = alloca <16 x float>, i64 1, align 64
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
  %i21 = phi i64 [%begin, %enter25], [%i21.next, %some299]
  store i64 %i21, ptr %stack7
  store float 0xFFF0000000000000, ptr %stack26
  ; vector for j in x1:
  %v27 = icmp sgt i64 %v14, 0
  br i1 %v27, label %some28, label %some29
some28:
  br label %steps30
steps30:
  %v57 = mul i64 %i21, %v14
  %v58 = getelementptr float, ptr %v18, i64 %v57
  br label %vector31
vector31:
  %v32 = load float, ptr %stack26
  %v33 = insertelement <16 x float> poison, float %v32, i32 0
  %v34 = shufflevector <16 x float> %v33, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v34, ptr %stack35
  store <16 x float> %v34, ptr %stack36
  store <16 x float> %v34, ptr %stack37
  store <16 x float> %v34, ptr %stack38
  store <16 x float> %v34, ptr %stack39
  store <16 x float> %v34, ptr %stack40
  store <16 x float> %v34, ptr %stack41
  store <16 x float> %v34, ptr %stack42
  store <16 x i1> zeroinitializer, ptr %stack43
  store <16 x i1> zeroinitializer, ptr %stack44
  store <16 x i1> zeroinitializer, ptr %stack45
  store <16 x i1> zeroinitializer, ptr %stack46
  store <16 x i1> zeroinitializer, ptr %stack47
  store <16 x i1> zeroinitializer, ptr %stack48
  store <16 x i1> zeroinitializer, ptr %stack49
  store <16 x i1> zeroinitializer, ptr %stack50
  %v51 = and i64 %v14, -128
  %v55 = icmp slt i64 0, %v51
  br i1 %v55, label %first54, label %done53
first54:
  br label %enter56
enter56:
  br label %for52
for52:
  %i52 = phi i64 [0, %enter56], [%i52.next, %for52]
  %v59 = getelementptr float, ptr %v58, i64 %i52
  %v60 = load <16 x float>, ptr %v59, align 4
  %v61 = load <16 x float>, ptr %stack35
  %v62 = fcmp uno <16 x float> %v60, %v60
  %v63 = load <16 x i1>, ptr %stack43
  %v64 = or <16 x i1> %v63, %v62
  store <16 x i1> %v64, ptr %stack43
  %v65 = fcmp ogt <16 x float> %v61, %v60
  %v66 = select <16 x i1> %v65, <16 x float> %v61, <16 x float> %v60
  store <16 x float> %v66, ptr %stack35
  %v67 = add i64 %i52, 16
  %v68 = getelementptr float, ptr %v58, i64 %v67
  %v69 = load <16 x float>, ptr %v68, align 4
  %v70 = load <16 x float>, ptr %stack36
  %v71 = fcmp uno <16 x float> %v69, %v69
  %v72 = load <16 x i1>, ptr %stack44
  %v73 = or <16 x i1> %v72, %v71
  store <16 x i1> %v73, ptr %stack44
  %v74 = fcmp ogt <16 x float> %v70, %v69
  %v75 = select <16 x i1> %v74, <16 x float> %v70, <16 x float> %v69
  store <16 x float> %v75, ptr %stack36
  %v76 = add i64 %i52, 32
  %v77 = getelementptr float, ptr %v58, i64 %v76
  %v78 = load <16 x float>, ptr %v77, align 4
  %v79 = load <16 x float>, ptr %stack37
  %v80 = fcmp uno <16 x float> %v78, %v78
  %v81 = load <16 x i1>, ptr %stack45
  %v82 = or <16 x i1> %v81, %v80
  store <16 x i1> %v82, ptr %stack45
  %v83 = fcmp ogt <16 x float> %v79, %v78
  %v84 = select <16 x i1> %v83, <16 x float> %v79, <16 x float> %v78
  store <16 x float> %v84, ptr %stack37
  %v85 = add i64 %i52, 48
  %v86 = getelementptr float, ptr %v58, i64 %v85
  %v87 = load <16 x float>, ptr %v86, align 4
  %v88 = load <16 x float>, ptr %stack38
  %v89 = fcmp uno <16 x float> %v87, %v87
  %v90 = load <16 x i1>, ptr %stack46
  %v91 = or <16 x i1> %v90, %v89
  store <16 x i1> %v91, ptr %stack46
  %v92 = fcmp ogt <16 x float> %v88, %v87
  %v93 = select <16 x i1> %v92, <16 x float> %v88, <16 x float> %v87
  store <16 x float> %v93, ptr %stack38
  %v94 = add i64 %i52, 64
  %v95 = getelementptr float, ptr %v58, i64 %v94
  %v96 = load <16 x float>, ptr %v95, align 4
  %v97 = load <16 x float>, ptr %stack39
  %v98 = fcmp uno <16 x float> %v96, %v96
  %v99 = load <16 x i1>, ptr %stack47
  %v100 = or <16 x i1> %v99, %v98
  store <16 x i1> %v100, ptr %stack47
  %v101 = fcmp ogt <16 x float> %v97, %v96
  %v102 = select <16 x i1> %v101, <16 x float> %v97, <16 x float> %v96
  store <16 x float> %v102, ptr %stack39
  %v103 = add i64 %i52, 80
  %v104 = getelementptr float, ptr %v58, i64 %v103
  %v105 = load <16 x float>, ptr %v104, align 4
  %v106 = load <16 x float>, ptr %stack40
  %v107 = fcmp uno <16 x float> %v105, %v105
  %v108 = load <16 x i1>, ptr %stack48
  %v109 = or <16 x i1> %v108, %v107
  store <16 x i1> %v109, ptr %stack48
  %v110 = fcmp ogt <16 x float> %v106, %v105
  %v111 = select <16 x i1> %v110, <16 x float> %v106, <16 x float> %v105
  store <16 x float> %v111, ptr %stack40
  %v112 = add i64 %i52, 96
  %v113 = getelementptr float, ptr %v58, i64 %v112
  %v114 = load <16 x float>, ptr %v113, align 4
  %v115 = load <16 x float>, ptr %stack41
  %v116 = fcmp uno <16 x float> %v114, %v114
  %v117 = load <16 x i1>, ptr %stack49
  %v118 = or <16 x i1> %v117, %v116
  store <16 x i1> %v118, ptr %stack49
  %v119 = fcmp ogt <16 x float> %v115, %v114
  %v120 = select <16 x i1> %v119, <16 x float> %v115, <16 x float> %v114
  store <16 x float> %v120, ptr %stack41
  %v121 = add i64 %i52, 112
  %v122 = getelementptr float, ptr %v58, i64 %v121
  %v123 = load <16 x float>, ptr %v122, align 4
  %v124 = load <16 x float>, ptr %stack42
  %v125 = fcmp uno <16 x float> %v123, %v123
  %v126 = load <16 x i1>, ptr %stack50
  %v127 = or <16 x i1> %v126, %v125
  store <16 x i1> %v127, ptr %stack50
  %v128 = fcmp ogt <16 x float> %v124, %v123
  %v129 = select <16 x i1> %v128, <16 x float> %v124, <16 x float> %v123
  store <16 x float> %v129, ptr %stack42
  %i52.next = add nsw i64 %i52, 128
  %v130 = icmp slt i64 %i52.next, %v51
  br i1 %v130, label %for52, label %done53
done53:
  %v134 = icmp slt i64 %v51, %v14
  br i1 %v134, label %first133, label %done132
first133:
  br label %enter135
enter135:
  br label %for131
for131:
  %i131 = phi i64 [%v51, %enter135], [%i131.next, %for131]
  %v136 = sub i64 %v14, %i131
  %v137 = call i64 @llvm.smin.i64(i64 %v136, i64 16)
  %v138 = trunc i64 %v137 to i32
  %v139 = insertelement <16 x i32> poison, i32 %v138, i32 0
  %v140 = shufflevector <16 x i32> %v139, <16 x i32> poison, <16 x i32> zeroinitializer
  %v141 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v140
  %v142 = getelementptr float, ptr %v58, i64 %i131
  %v143 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v142, i32 4, <16 x i1> %v141, <16 x float> zeroinitializer)
  %v144 = load <16 x float>, ptr %stack35
  %v145 = fcmp uno <16 x float> %v143, %v143
  %v146 = and <16 x i1> %v145, %v141
  %v147 = load <16 x i1>, ptr %stack43
  %v148 = or <16 x i1> %v147, %v146
  store <16 x i1> %v148, ptr %stack43
  %v149 = fcmp ogt <16 x float> %v144, %v143
  %v150 = select <16 x i1> %v149, <16 x float> %v144, <16 x float> %v143
  %v151 = select <16 x i1> %v141, <16 x float> %v150, <16 x float> %v144
  store <16 x float> %v151, ptr %stack35
  %i131.next = add nsw i64 %i131, 16
  %v152 = icmp slt i64 %i131.next, %v14
  br i1 %v152, label %for131, label %done132
done132:
  %v153 = load <16 x float>, ptr %stack35
  %v154 = load <16 x float>, ptr %stack36
  %v155 = load <16 x float>, ptr %stack37
  %v156 = load <16 x float>, ptr %stack38
  %v157 = load <16 x float>, ptr %stack39
  %v158 = load <16 x float>, ptr %stack40
  %v159 = load <16 x float>, ptr %stack41
  %v160 = load <16 x float>, ptr %stack42
  %v161 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v153, <16 x float> %v154)
  %v162 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v155, <16 x float> %v156)
  %v163 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v157, <16 x float> %v158)
  %v164 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v159, <16 x float> %v160)
  %v165 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v161, <16 x float> %v162)
  %v166 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v163, <16 x float> %v164)
  %v167 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v165, <16 x float> %v166)
  %v168 = shufflevector <16 x float> %v167, <16 x float> %v167, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v169 = shufflevector <16 x float> %v167, <16 x float> %v167, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v170 = call <8 x float> @maths.maximum.v8f32(<8 x float> %v168, <8 x float> %v169)
  %v171 = shufflevector <8 x float> %v170, <8 x float> %v170, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v172 = shufflevector <8 x float> %v170, <8 x float> %v170, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v173 = call <4 x float> @maths.maximum.v4f32(<4 x float> %v171, <4 x float> %v172)
  %v174 = shufflevector <4 x float> %v173, <4 x float> %v173, <2 x i32> <i32 0, i32 1>
  %v175 = shufflevector <4 x float> %v173, <4 x float> %v173, <2 x i32> <i32 2, i32 3>
  %v176 = call <2 x float> @maths.maximum.v2f32(<2 x float> %v174, <2 x float> %v175)
  %v177 = extractelement <2 x float> %v176, i64 0
  %v178 = extractelement <2 x float> %v176, i64 1
  %v179 = call float @maths.maximum.f32(float %v177, float %v178)
  %v180 = load <16 x i1>, ptr %stack43
  %v181 = load <16 x i1>, ptr %stack44
  %v182 = load <16 x i1>, ptr %stack45
  %v183 = load <16 x i1>, ptr %stack46
  %v184 = load <16 x i1>, ptr %stack47
  %v185 = load <16 x i1>, ptr %stack48
  %v186 = load <16 x i1>, ptr %stack49
  %v187 = load <16 x i1>, ptr %stack50
  %v188 = or <16 x i1> %v180, %v181
  %v189 = or <16 x i1> %v188, %v182
  %v190 = or <16 x i1> %v189, %v183
  %v191 = or <16 x i1> %v190, %v184
  %v192 = or <16 x i1> %v191, %v185
  %v193 = or <16 x i1> %v192, %v186
  %v194 = or <16 x i1> %v193, %v187
  %v195 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v194)
  %v196 = select i1 %v195, float 0x7FF8000000000000, float %v179
  %v197 = load float, ptr %stack26
  %v198 = call float @maths.maximum.f32(float %v197, float %v196)
  store float %v198, ptr %stack26
  br label %some29
some29:
  %v200 = fpext float 0x0000000000000000 to double
  store double %v200, ptr %stack199
  ; vector for j in x1:
  %v201 = icmp sgt i64 %v14, 0
  br i1 %v201, label %some202, label %some203
some202:
  br label %steps204
steps204:
  %v227 = mul i64 %i21, %v14
  %v228 = getelementptr float, ptr %v18, i64 %v227
  %v231 = load float, ptr %stack26
  %v232 = insertelement <16 x float> poison, float %v231, i32 0
  %v233 = shufflevector <16 x float> %v232, <16 x float> poison, <16 x i32> zeroinitializer
  %v236 = getelementptr float, ptr %v20, i64 %v227
  br label %vector205
vector205:
  %v206 = getelementptr i8, ptr %constants, i64 0
  %v207 = load float, ptr %v206
  %v208 = insertelement <16 x float> poison, float %v207, i32 0
  %v209 = shufflevector <16 x float> %v208, <16 x float> poison, <16 x i32> zeroinitializer
  %v211 = fpext <16 x float> %v209 to <16 x double>
  store <16 x double> %v211, ptr %stack210
  store <16 x float> %v209, ptr %stack212
  store <16 x float> %v209, ptr %stack213
  %v214 = and i64 %v14, -32
  %v218 = icmp slt i64 0, %v214
  br i1 %v218, label %first217, label %done216
first217:
  br label %enter219
enter219:
  br label %for215
for215:
  %i215 = phi i64 [0, %enter219], [%i215.next, %done223]
  %v220 = add i64 %i215, 512
  %v221 = call i64 @llvm.smin.i64(i64 %v220, i64 %v214)
  %v225 = icmp slt i64 %i215, %v221
  br i1 %v225, label %first224, label %done223
first224:
  br label %enter226
enter226:
  br label %for222
for222:
  %i222 = phi i64 [%i215, %enter226], [%i222.next, %for222]
  %v229 = getelementptr float, ptr %v228, i64 %i222
  %v230 = load <16 x float>, ptr %v229, align 4
  %v234 = fsub <16 x float> %v230, %v233
  %v235 = call <16 x float> @maths.exp.v16f32(<16 x float> %v234)
  %v237 = getelementptr float, ptr %v236, i64 %i222
  store <16 x float> %v235, ptr %v237, align 4
  %v238 = load <16 x float>, ptr %stack212
  %v239 = fadd <16 x float> %v238, %v235
  store <16 x float> %v239, ptr %stack212
  %v240 = add i64 %i222, 16
  %v241 = getelementptr float, ptr %v228, i64 %v240
  %v242 = load <16 x float>, ptr %v241, align 4
  %v243 = fsub <16 x float> %v242, %v233
  %v244 = call <16 x float> @maths.exp.v16f32(<16 x float> %v243)
  %v245 = getelementptr float, ptr %v236, i64 %v240
  store <16 x float> %v244, ptr %v245, align 4
  %v246 = load <16 x float>, ptr %stack213
  %v247 = fadd <16 x float> %v246, %v244
  store <16 x float> %v247, ptr %stack213
  %i222.next = add nsw i64 %i222, 32
  %v248 = icmp slt i64 %i222.next, %v221
  br i1 %v248, label %for222, label %done223
done223:
  %v249 = load <16 x float>, ptr %stack212
  %v250 = load <16 x float>, ptr %stack213
  %v251 = fadd <16 x float> %v249, %v250
  %v252 = fpext <16 x float> %v251 to <16 x double>
  %v253 = load <16 x double>, ptr %stack210
  %v254 = fadd <16 x double> %v253, %v252
  store <16 x double> %v254, ptr %stack210
  store <16 x float> %v209, ptr %stack212
  store <16 x float> %v209, ptr %stack213
  %i215.next = add nsw i64 %i215, 512
  %v255 = icmp slt i64 %i215.next, %v214
  br i1 %v255, label %for215, label %done216
done216:
  %v259 = icmp slt i64 %v214, %v14
  br i1 %v259, label %first258, label %done257
first258:
  br label %enter260
enter260:
  br label %for256
for256:
  %i256 = phi i64 [%v214, %enter260], [%i256.next, %for256]
  %v261 = sub i64 %v14, %i256
  %v262 = call i64 @llvm.smin.i64(i64 %v261, i64 16)
  %v263 = trunc i64 %v262 to i32
  %v264 = insertelement <16 x i32> poison, i32 %v263, i32 0
  %v265 = shufflevector <16 x i32> %v264, <16 x i32> poison, <16 x i32> zeroinitializer
  %v266 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v265
  %v267 = getelementptr float, ptr %v228, i64 %i256
  %v268 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v267, i32 4, <16 x i1> %v266, <16 x float> zeroinitializer)
  %v269 = fsub <16 x float> %v268, %v233
  %v270 = call <16 x float> @maths.exp.v16f32(<16 x float> %v269)
  %v271 = getelementptr float, ptr %v236, i64 %i256
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v270, ptr %v271, i32 4, <16 x i1> %v266)
  %v272 = load <16 x float>, ptr %stack212
  %v273 = fadd <16 x float> %v272, %v270
  %v274 = select <16 x i1> %v266, <16 x float> %v273, <16 x float> %v272
  store <16 x float> %v274, ptr %stack212
  %i256.next = add nsw i64 %i256, 16
  %v275 = icmp slt i64 %i256.next, %v14
  br i1 %v275, label %for256, label %done257
done257:
  %v276 = load <16 x float>, ptr %stack212
  %v277 = load <16 x float>, ptr %stack213
  %v278 = fadd <16 x float> %v276, %v277
  %v279 = fpext <16 x float> %v278 to <16 x double>
  %v280 = load <16 x double>, ptr %stack210
  %v281 = fadd <16 x double> %v280, %v279
  store <16 x double> %v281, ptr %stack210
  store <16 x float> %v209, ptr %stack212
  store <16 x float> %v209, ptr %stack213
  %v282 = load <16 x double>, ptr %stack210
  %v283 = shufflevector <16 x double> %v282, <16 x double> %v282, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v284 = shufflevector <16 x double> %v282, <16 x double> %v282, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v285 = fadd <8 x double> %v283, %v284
  %v286 = shufflevector <8 x double> %v285, <8 x double> %v285, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v287 = shufflevector <8 x double> %v285, <8 x double> %v285, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v288 = fadd <4 x double> %v286, %v287
  %v289 = shufflevector <4 x double> %v288, <4 x double> %v288, <2 x i32> <i32 0, i32 1>
  %v290 = shufflevector <4 x double> %v288, <4 x double> %v288, <2 x i32> <i32 2, i32 3>
  %v291 = fadd <2 x double> %v289, %v290
  %v292 = extractelement <2 x double> %v291, i64 0
  %v293 = extractelement <2 x double> %v291, i64 1
  %v294 = fadd double %v292, %v293
  %v295 = load double, ptr %stack199
  %v296 = fadd double %v295, %v294
  store double %v296, ptr %stack199
  br label %some203
some203:
  ; vector for j in x1:
  %v297 = icmp sgt i64 %v14, 0
  br i1 %v297, label %some298, label %some299
some298:
  br label %steps300
steps300:
  %v308 = mul i64 %i21, %v14
  %v309 = getelementptr float, ptr %v20, i64 %v308
  %v312 = load double, ptr %stack199
  %v313 = fptrunc double %v312 to float
  %v314 = insertelement <16 x float> poison, float %v313, i32 0
  %v315 = shufflevector <16 x float> %v314, <16 x float> poison, <16 x i32> zeroinitializer
  br label %vector301
vector301:
  %v302 = and i64 %v14, -32
  %v306 = icmp slt i64 0, %v302
  br i1 %v306, label %first305, label %done304
first305:
  br label %enter307
enter307:
  br label %for303
for303:
  %i303 = phi i64 [0, %enter307], [%i303.next, %for303]
  %v310 = getelementptr float, ptr %v309, i64 %i303
  %v311 = load <16 x float>, ptr %v310, align 4
  %v316 = fdiv <16 x float> %v311, %v315
  %v317 = getelementptr float, ptr %v309, i64 %i303
  store <16 x float> %v316, ptr %v317, align 4
  %v318 = add i64 %i303, 16
  %v319 = getelementptr float, ptr %v309, i64 %v318
  %v320 = load <16 x float>, ptr %v319, align 4
  %v321 = fdiv <16 x float> %v320, %v315
  %v322 = getelementptr float, ptr %v309, i64 %v318
  store <16 x float> %v321, ptr %v322, align 4
  %i303.next = add nsw i64 %i303, 32
  %v323 = icmp slt i64 %i303.next, %v302
  br i1 %v323, label %for303, label %done304
done304:
  %v327 = icmp slt i64 %v302, %v14
  br i1 %v327, label %first326, label %done325
first326:
  br label %enter328
enter328:
  br label %for324
for324:
  %i324 = phi i64 [%v302, %enter328], [%i324.next, %for324]
  %v329 = sub i64 %v14, %i324
  %v330 = call i64 @llvm.smin.i64(i64 %v329, i64 16)
  %v331 = trunc i64 %v330 to i32
  %v332 = insertelement <16 x i32> poison, i32 %v331, i32 0
  %v333 = shufflevector <16 x i32> %v332, <16 x i32> poison, <16 x i32> zeroinitializer
  %v334 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v333
  %v335 = getelementptr float, ptr %v309, i64 %i324
  %v336 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v335, i32 4, <16 x i1> %v334, <16 x float> zeroinitializer)
  %v337 = fdiv <16 x float> %v336, %v315
  %v338 = getelementptr float, ptr %v309, i64 %i324
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v337, ptr %v338, i32 4, <16 x i1> %v334)
  %i324.next = add nsw i64 %i324, 16
  %v339 = icmp slt i64 %i324.next, %v14
  br i1 %v339, label %for324, label %done325
done325:
  br label %some299
some299:
  %i21.next = add nsw i64 %i21, 1
  %v340 = icmp slt i64 %i21.next, %end
  br i1 %v340, label %for21, label %done22
done22:
  br label %exit11
exit11:
  %v341 = load i32, ptr %stack6
  %v342 = icmp ne i32 %v341, 0
  br i1 %v342, label %report343, label %reported344, !prof !0
report343:
  %v345 = load i64, ptr %stack7
  call void @report_failure(ptr %context, i64 %v345, i32 %v341, ptr %stack10)
  br label %reported344
reported344:
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
