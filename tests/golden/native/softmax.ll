define i32 @run(ptr %inputs, ptr %outputs) nounwind {
entry:
  %stack1 = alloca i32, i64 1, align 64
  %stack21 = alloca i64, i64 25, align 64
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
  %v22 = getelementptr i64, ptr %stack21, i64 11
  store ptr %outputs, ptr %v22, align 8
  %v23 = getelementptr i64, ptr %stack21, i64 12
  store i64 %v10, ptr %v23, align 8
  %v24 = getelementptr i64, ptr %stack21, i64 13
  store i64 %v8, ptr %v24, align 8
  %v25 = getelementptr i64, ptr %stack21, i64 14
  store ptr %v6, ptr %v25, align 8
  %v26 = getelementptr i64, ptr %stack21, i64 15
  store ptr %v12, ptr %v26, align 8
  %v27 = call i32 @share(ptr @turns.1, ptr %stack21, i64 %v8, i64 %v20)
  %v28 = icmp ne i32 %v27, 0
  br i1 %v28, label %out29, label %on30, !prof !0
out29:
  %v31 = getelementptr i64, ptr %stack21, i64 3
  call void @llvm.memcpy.p0.p0.i64(ptr %v2, ptr %v31, i64 64, i1 false)
  store i32 %v27, ptr %stack1
  br label %exit3
on30:
  br label %exit3
exit3:
  %v32 = load i32, ptr %stack1
  %v33 = icmp ne i32 %v32, 0
  ret i32 %v32
}

define internal void @turns.1(ptr %context, i64 %begin, i64 %end) noinline nounwind {
entry:
  %constants = call ptr asm "", "=r,0"(ptr @constants)
  %stack6 = alloca i32, i64 1, align 64
  %stack7 = alloca i64, i64 1, align 64
  %stack10 = alloca i64, i64 8, align 64
  %stack33 = alloca float, i64 1, align 64
  %stack42 = alloca <16 x float>, i64 1, align 64
  %stack43 = alloca <16 x float>, i64 1, align 64
  %stack44 = alloca <16 x float>, i64 1, align 64
  %stack45 = alloca <16 x float>, i64 1, align 64
  %stack46 = alloca <16 x float>, i64 1, align 64
  %stack47 = alloca <16 x float>, i64 1, align 64
  %stack48 = alloca <16 x float>, i64 1, align 64
  %stack49 = alloca <16 x float>, i64 1, align 64
  %stack50 = alloca <16 x i1>, i64 1, align 64
  %stack51 = alloca <16 x i1>, i64 1, align 64
  %stack52 = alloca <16 x i1>, i64 1, align 64
  %stack53 = alloca <16 x i1>, i64 1, align 64
  %stack54 = alloca <16 x i1>, i64 1, align 64
  %stack55 = alloca <16 x i1>, i64 1, align 64
  %stack56 = alloca <16 x i1>, i64 1, align 64
  %stack57 = alloca <16 x i1>, i64 1, align 64
  %stack206 = alloca double, i64 1, align 64
  %stack217 = alloca <16 x double>, i64 1, align 64
  %stack219 = alloca <16 x float>, i64 1, align 64
  %stack220 = alloca <16 x float>, i64 1, align 64
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
  %i21 = phi i64 [%begin, %enter25], [%i21.next, %some306]
  store i64 %i21, ptr %stack7
  %v28 = and i64 %i21, 7
  %v29 = icmp eq i64 %v28, 7
  br i1 %v29, label %due26, label %on27, !prof !0
due26:
  %v30 = call i1 @stopped(ptr %context)
  br i1 %v30, label %out31, label %on32, !prof !0
out31:
  store i32 -1, ptr %stack6
  br label %exit11
on32:
  br label %on27
on27:
  store float 0xFFF0000000000000, ptr %stack33
  ; vector for j in x1:
  %v34 = icmp sgt i64 %v14, 0
  br i1 %v34, label %some35, label %some36
some35:
  br label %steps37
steps37:
  %v64 = mul i64 %i21, %v14
  %v65 = getelementptr float, ptr %v18, i64 %v64
  br label %vector38
vector38:
  %v39 = load float, ptr %stack33
  %v40 = insertelement <16 x float> poison, float %v39, i32 0
  %v41 = shufflevector <16 x float> %v40, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v41, ptr %stack42
  store <16 x float> %v41, ptr %stack43
  store <16 x float> %v41, ptr %stack44
  store <16 x float> %v41, ptr %stack45
  store <16 x float> %v41, ptr %stack46
  store <16 x float> %v41, ptr %stack47
  store <16 x float> %v41, ptr %stack48
  store <16 x float> %v41, ptr %stack49
  store <16 x i1> zeroinitializer, ptr %stack50
  store <16 x i1> zeroinitializer, ptr %stack51
  store <16 x i1> zeroinitializer, ptr %stack52
  store <16 x i1> zeroinitializer, ptr %stack53
  store <16 x i1> zeroinitializer, ptr %stack54
  store <16 x i1> zeroinitializer, ptr %stack55
  store <16 x i1> zeroinitializer, ptr %stack56
  store <16 x i1> zeroinitializer, ptr %stack57
  %v58 = and i64 %v14, -128
  %v62 = icmp slt i64 0, %v58
  br i1 %v62, label %first61, label %done60
first61:
  br label %enter63
enter63:
  br label %for59
for59:
  %i59 = phi i64 [0, %enter63], [%i59.next, %for59]
  %v66 = getelementptr float, ptr %v65, i64 %i59
  %v67 = load <16 x float>, ptr %v66, align 4
  %v68 = load <16 x float>, ptr %stack42
  %v69 = fcmp uno <16 x float> %v67, %v67
  %v70 = load <16 x i1>, ptr %stack50
  %v71 = or <16 x i1> %v70, %v69
  store <16 x i1> %v71, ptr %stack50
  %v72 = fcmp ogt <16 x float> %v68, %v67
  %v73 = select <16 x i1> %v72, <16 x float> %v68, <16 x float> %v67
  store <16 x float> %v73, ptr %stack42
  %v74 = add i64 %i59, 16
  %v75 = getelementptr float, ptr %v65, i64 %v74
  %v76 = load <16 x float>, ptr %v75, align 4
  %v77 = load <16 x float>, ptr %stack43
  %v78 = fcmp uno <16 x float> %v76, %v76
  %v79 = load <16 x i1>, ptr %stack51
  %v80 = or <16 x i1> %v79, %v78
  store <16 x i1> %v80, ptr %stack51
  %v81 = fcmp ogt <16 x float> %v77, %v76
  %v82 = select <16 x i1> %v81, <16 x float> %v77, <16 x float> %v76
  store <16 x float> %v82, ptr %stack43
  %v83 = add i64 %i59, 32
  %v84 = getelementptr float, ptr %v65, i64 %v83
  %v85 = load <16 x float>, ptr %v84, align 4
  %v86 = load <16 x float>, ptr %stack44
  %v87 = fcmp uno <16 x float> %v85, %v85
  %v88 = load <16 x i1>, ptr %stack52
  %v89 = or <16 x i1> %v88, %v87
  store <16 x i1> %v89, ptr %stack52
  %v90 = fcmp ogt <16 x float> %v86, %v85
  %v91 = select <16 x i1> %v90, <16 x float> %v86, <16 x float> %v85
  store <16 x float> %v91, ptr %stack44
  %v92 = add i64 %i59, 48
  %v93 = getelementptr float, ptr %v65, i64 %v92
  %v94 = load <16 x float>, ptr %v93, align 4
  %v95 = load <16 x float>, ptr %stack45
  %v96 = fcmp uno <16 x float> %v94, %v94
  %v97 = load <16 x i1>, ptr %stack53
  %v98 = or <16 x i1> %v97, %v96
  store <16 x i1> %v98, ptr %stack53
  %v99 = fcmp ogt <16 x float> %v95, %v94
  %v100 = select <16 x i1> %v99, <16 x float> %v95, <16 x float> %v94
  store <16 x float> %v100, ptr %stack45
  %v101 = add i64 %i59, 64
  %v102 = getelementptr float, ptr %v65, i64 %v101
  %v103 = load <16 x float>, ptr %v102, align 4
  %v104 = load <16 x float>, ptr %stack46
  %v105 = fcmp uno <16 x float> %v103, %v103
  %v106 = load <16 x i1>, ptr %stack54
  %v107 = or <16 x i1> %v106, %v105
  store <16 x i1> %v107, ptr %stack54
  %v108 = fcmp ogt <16 x float> %v104, %v103
  %v109 = select <16 x i1> %v108, <16 x float> %v104, <16 x float> %v103
  store <16 x float> %v109, ptr %stack46
  %v110 = add i64 %i59, 80
  %v111 = getelementptr float, ptr %v65, i64 %v110
  %v112 = load <16 x float>, ptr %v111, align 4
  %v113 = load <16 x float>, ptr %stack47
  %v114 = fcmp uno <16 x float> %v112, %v112
  %v115 = load <16 x i1>, ptr %stack55
  %v116 = or <16 x i1> %v115, %v114
  store <16 x i1> %v116, ptr %stack55
  %v117 = fcmp ogt <16 x float> %v113, %v112
  %v118 = select <16 x i1> %v117, <16 x float> %v113, <16 x float> %v112
  store <16 x float> %v118, ptr %stack47
  %v119 = add i64 %i59, 96
  %v120 = getelementptr float, ptr %v65, i64 %v119
  %v121 = load <16 x float>, ptr %v120, align 4
  %v122 = load <16 x float>, ptr %stack48
  %v123 = fcmp uno <16 x float> %v121, %v121
  %v124 = load <16 x i1>, ptr %stack56
  %v125 = or <16 x i1> %v124, %v123
  store <16 x i1> %v125, ptr %stack56
  %v126 = fcmp ogt <16 x float> %v122, %v121
  %v127 = select <16 x i1> %v126, <16 x float> %v122, <16 x float> %v121
  store <16 x float> %v127, ptr %stack48
  %v128 = add i64 %i59, 112
  %v129 = getelementptr float, ptr %v65, i64 %v128
  %v130 = load <16 x float>, ptr %v129, align 4
  %v131 = load <16 x float>, ptr %stack49
  %v132 = fcmp uno <16 x float> %v130, %v130
  %v133 = load <16 x i1>, ptr %stack57
  %v134 = or <16 x i1> %v133, %v132
  store <16 x i1> %v134, ptr %stack57
  %v135 = fcmp ogt <16 x float> %v131, %v130
  %v136 = select <16 x i1> %v135, <16 x float> %v131, <16 x float> %v130
  store <16 x float> %v136, ptr %stack49
  %i59.next = add nsw i64 %i59, 128
  %v137 = icmp slt i64 %i59.next, %v58
  br i1 %v137, label %for59, label %done60
done60:
  %v141 = icmp slt i64 %v58, %v14
  br i1 %v141, label %first140, label %done139
first140:
  br label %enter142
enter142:
  br label %for138
for138:
  %i138 = phi i64 [%v58, %enter142], [%i138.next, %for138]
  %v143 = sub i64 %v14, %i138
  %v144 = call i64 @llvm.smin.i64(i64 %v143, i64 16)
  %v145 = trunc i64 %v144 to i32
  %v146 = insertelement <16 x i32> poison, i32 %v145, i32 0
  %v147 = shufflevector <16 x i32> %v146, <16 x i32> poison, <16 x i32> zeroinitializer
  %v148 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v147
  %v149 = getelementptr float, ptr %v65, i64 %i138
  %v150 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v149, i32 4, <16 x i1> %v148, <16 x float> zeroinitializer)
  %v151 = load <16 x float>, ptr %stack42
  %v152 = fcmp uno <16 x float> %v150, %v150
  %v153 = and <16 x i1> %v152, %v148
  %v154 = load <16 x i1>, ptr %stack50
  %v155 = or <16 x i1> %v154, %v153
  store <16 x i1> %v155, ptr %stack50
  %v156 = fcmp ogt <16 x float> %v151, %v150
  %v157 = select <16 x i1> %v156, <16 x float> %v151, <16 x float> %v150
  %v158 = select <16 x i1> %v148, <16 x float> %v157, <16 x float> %v151
  store <16 x float> %v158, ptr %stack42
  %i138.next = add nsw i64 %i138, 16
  %v159 = icmp slt i64 %i138.next, %v14
  br i1 %v159, label %for138, label %done139
done139:
  %v160 = load <16 x float>, ptr %stack42
  %v161 = load <16 x float>, ptr %stack43
  %v162 = load <16 x float>, ptr %stack44
  %v163 = load <16 x float>, ptr %stack45
  %v164 = load <16 x float>, ptr %stack46
  %v165 = load <16 x float>, ptr %stack47
  %v166 = load <16 x float>, ptr %stack48
  %v167 = load <16 x float>, ptr %stack49
  %v168 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v160, <16 x float> %v161)
  %v169 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v162, <16 x float> %v163)
  %v170 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v164, <16 x float> %v165)
  %v171 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v166, <16 x float> %v167)
  %v172 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v168, <16 x float> %v169)
  %v173 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v170, <16 x float> %v171)
  %v174 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v172, <16 x float> %v173)
  %v175 = shufflevector <16 x float> %v174, <16 x float> %v174, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v176 = shufflevector <16 x float> %v174, <16 x float> %v174, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v177 = call <8 x float> @maths.maximum.v8f32(<8 x float> %v175, <8 x float> %v176)
  %v178 = shufflevector <8 x float> %v177, <8 x float> %v177, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v179 = shufflevector <8 x float> %v177, <8 x float> %v177, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v180 = call <4 x float> @maths.maximum.v4f32(<4 x float> %v178, <4 x float> %v179)
  %v181 = shufflevector <4 x float> %v180, <4 x float> %v180, <2 x i32> <i32 0, i32 1>
  %v182 = shufflevector <4 x float> %v180, <4 x float> %v180, <2 x i32> <i32 2, i32 3>
  %v183 = call <2 x float> @maths.maximum.v2f32(<2 x float> %v181, <2 x float> %v182)
  %v184 = extractelement <2 x float> %v183, i64 0
  %v185 = extractelement <2 x float> %v183, i64 1
  %v186 = call float @maths.maximum.f32(float %v184, float %v185)
  %v187 = load <16 x i1>, ptr %stack50
  %v188 = load <16 x i1>, ptr %stack51
  %v189 = load <16 x i1>, ptr %stack52
  %v190 = load <16 x i1>, ptr %stack53
  %v191 = load <16 x i1>, ptr %stack54
  %v192 = load <16 x i1>, ptr %stack55
  %v193 = load <16 x i1>, ptr %stack56
  %v194 = load <16 x i1>, ptr %stack57
  %v195 = or <16 x i1> %v187, %v188
  %v196 = or <16 x i1> %v195, %v189
  %v197 = or <16 x i1> %v196, %v190
  %v198 = or <16 x i1> %v197, %v191
  %v199 = or <16 x i1> %v198, %v192
  %v200 = or <16 x i1> %v199, %v193
  %v201 = or <16 x i1> %v200, %v194
  %v202 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v201)
  %v203 = select i1 %v202, float 0x7FF8000000000000, float %v186
  %v204 = load float, ptr %stack33
  %v205 = call float @maths.maximum.f32(float %v204, float %v203)
  store float %v205, ptr %stack33
  br label %some36
some36:
  %v207 = fpext float 0x0000000000000000 to double
  store double %v207, ptr %stack206
  ; vector for j in x1:
  %v208 = icmp sgt i64 %v14, 0
  br i1 %v208, label %some209, label %some210
some209:
  br label %steps211
steps211:
  %v234 = mul i64 %i21, %v14
  %v235 = getelementptr float, ptr %v18, i64 %v234
  %v238 = load float, ptr %stack33
  %v239 = insertelement <16 x float> poison, float %v238, i32 0
  %v240 = shufflevector <16 x float> %v239, <16 x float> poison, <16 x i32> zeroinitializer
  %v243 = getelementptr float, ptr %v20, i64 %v234
  br label %vector212
vector212:
  %v213 = getelementptr i8, ptr %constants, i64 0
  %v214 = load float, ptr %v213
  %v215 = insertelement <16 x float> poison, float %v214, i32 0
  %v216 = shufflevector <16 x float> %v215, <16 x float> poison, <16 x i32> zeroinitializer
  %v218 = fpext <16 x float> %v216 to <16 x double>
  store <16 x double> %v218, ptr %stack217
  store <16 x float> %v216, ptr %stack219
  store <16 x float> %v216, ptr %stack220
  %v221 = and i64 %v14, -32
  %v225 = icmp slt i64 0, %v221
  br i1 %v225, label %first224, label %done223
first224:
  br label %enter226
enter226:
  br label %for222
for222:
  %i222 = phi i64 [0, %enter226], [%i222.next, %done230]
  %v227 = add i64 %i222, 512
  %v228 = call i64 @llvm.smin.i64(i64 %v227, i64 %v221)
  %v232 = icmp slt i64 %i222, %v228
  br i1 %v232, label %first231, label %done230
first231:
  br label %enter233
enter233:
  br label %for229
for229:
  %i229 = phi i64 [%i222, %enter233], [%i229.next, %for229]
  %v236 = getelementptr float, ptr %v235, i64 %i229
  %v237 = load <16 x float>, ptr %v236, align 4
  %v241 = fsub <16 x float> %v237, %v240
  %v242 = call <16 x float> @maths.exp.v16f32(<16 x float> %v241)
  %v244 = getelementptr float, ptr %v243, i64 %i229
  store <16 x float> %v242, ptr %v244, align 4
  %v245 = load <16 x float>, ptr %stack219
  %v246 = fadd <16 x float> %v245, %v242
  store <16 x float> %v246, ptr %stack219
  %v247 = add i64 %i229, 16
  %v248 = getelementptr float, ptr %v235, i64 %v247
  %v249 = load <16 x float>, ptr %v248, align 4
  %v250 = fsub <16 x float> %v249, %v240
  %v251 = call <16 x float> @maths.exp.v16f32(<16 x float> %v250)
  %v252 = getelementptr float, ptr %v243, i64 %v247
  store <16 x float> %v251, ptr %v252, align 4
  %v253 = load <16 x float>, ptr %stack220
  %v254 = fadd <16 x float> %v253, %v251
  store <16 x float> %v254, ptr %stack220
  %i229.next = add nsw i64 %i229, 32
  %v255 = icmp slt i64 %i229.next, %v228
  br i1 %v255, label %for229, label %done230
done230:
  %v256 = load <16 x float>, ptr %stack219
  %v257 = load <16 x float>, ptr %stack220
  %v258 = fadd <16 x float> %v256, %v257
  %v259 = fpext <16 x float> %v258 to <16 x double>
  %v260 = load <16 x double>, ptr %stack217
  %v261 = fadd <16 x double> %v260, %v259
  store <16 x double> %v261, ptr %stack217
  store <16 x float> %v216, ptr %stack219
  store <16 x float> %v216, ptr %stack220
  %i222.next = add nsw i64 %i222, 512
  %v262 = icmp slt i64 %i222.next, %v221
  br i1 %v262, label %for222, label %done223
done223:
  %v266 = icmp slt i64 %v221, %v14
  br i1 %v266, label %first265, label %done264
first265:
  br label %enter267
enter267:
  br label %for263
for263:
  %i263 = phi i64 [%v221, %enter267], [%i263.next, %for263]
  %v268 = sub i64 %v14, %i263
  %v269 = call i64 @llvm.smin.i64(i64 %v268, i64 16)
  %v270 = trunc i64 %v269 to i32
  %v271 = insertelement <16 x i32> poison, i32 %v270, i32 0
  %v272 = shufflevector <16 x i32> %v271, <16 x i32> poison, <16 x i32> zeroinitializer
  %v273 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v272
  %v274 = getelementptr float, ptr %v235, i64 %i263
  %v275 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v274, i32 4, <16 x i1> %v273, <16 x float> zeroinitializer)
  %v276 = fsub <16 x float> %v275, %v240
  %v277 = call <16 x float> @maths.exp.v16f32(<16 x float> %v276)
  %v278 = getelementptr float, ptr %v243, i64 %i263
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v277, ptr %v278, i32 4, <16 x i1> %v273)
  %v279 = load <16 x float>, ptr %stack219
  %v280 = fadd <16 x float> %v279, %v277
  %v281 = select <16 x i1> %v273, <16 x float> %v280, <16 x float> %v279
  store <16 x float> %v281, ptr %stack219
  %i263.next = add nsw i64 %i263, 16
  %v282 = icmp slt i64 %i263.next, %v14
  br i1 %v282, label %for263, label %done264
done264:
  %v283 = load <16 x float>, ptr %stack219
  %v284 = load <16 x float>, ptr %stack220
  %v285 = fadd <16 x float> %v283, %v284
  %v286 = fpext <16 x float> %v285 to <16 x double>
  %v287 = load <16 x double>, ptr %stack217
  %v288 = fadd <16 x double> %v287, %v286
  store <16 x double> %v288, ptr %stack217
  store <16 x float> %v216, ptr %stack219
  store <16 x float> %v216, ptr %stack220
  %v289 = load <16 x double>, ptr %stack217
  %v290 = shufflevector <16 x double> %v289, <16 x double> %v289, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v291 = shufflevector <16 x double> %v289, <16 x double> %v289, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v292 = fadd <8 x double> %v290, %v291
  %v293 = shufflevector <8 x double> %v292, <8 x double> %v292, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v294 = shufflevector <8 x double> %v292, <8 x double> %v292, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v295 = fadd <4 x double> %v293, %v294
  %v296 = shufflevector <4 x double> %v295, <4 x double> %v295, <2 x i32> <i32 0, i32 1>
  %v297 = shufflevector <4 x double> %v295, <4 x double> %v295, <2 x i32> <i32 2, i32 3>
  %v298 = fadd <2 x double> %v296, %v297
  %v299 = extractelement <2 x double> %v298, i64 0
  %v300 = extractelement <2 x double> %v298, i64 1
  %v301 = fadd double %v299, %v300
  %v302 = load double, ptr %stack206
  %v303 = fadd double %v302, %v301
  store double %v303, ptr %stack206
  br label %some210
some210:
  ; vector for j in x1:
  %v304 = icmp sgt i64 %v14, 0
  br i1 %v304, label %some305, label %some306
some305:
  br label %steps307
steps307:
  %v315 = mul i64 %i21, %v14
  %v316 = getelementptr float, ptr %v20, i64 %v315
  %v319 = load double, ptr %stack206
  %v320 = fptrunc double %v319 to float
  %v321 = insertelement <16 x float> poison, float %v320, i32 0
  %v322 = shufflevector <16 x float> %v321, <16 x float> poison, <16 x i32> zeroinitializer
  br label %vector308
vector308:
  %v309 = and i64 %v14, -32
  %v313 = icmp slt i64 0, %v309
  br i1 %v313, label %first312, label %done311
first312:
  br label %enter314
enter314:
  br label %for310
for310:
  %i310 = phi i64 [0, %enter314], [%i310.next, %for310]
  %v317 = getelementptr float, ptr %v316, i64 %i310
  %v318 = load <16 x float>, ptr %v317, align 4
  %v323 = fdiv <16 x float> %v318, %v322
  %v324 = getelementptr float, ptr %v316, i64 %i310
  store <16 x float> %v323, ptr %v324, align 4
  %v325 = add i64 %i310, 16
  %v326 = getelementptr float, ptr %v316, i64 %v325
  %v327 = load <16 x float>, ptr %v326, align 4
  %v328 = fdiv <16 x float> %v327, %v322
  %v329 = getelementptr float, ptr %v316, i64 %v325
  store <16 x float> %v328, ptr %v329, align 4
  %i310.next = add nsw i64 %i310, 32
  %v330 = icmp slt i64 %i310.next, %v309
  br i1 %v330, label %for310, label %done311
done311:
  %v334 = icmp slt i64 %v309, %v14
  br i1 %v334, label %first333, label %done332
first333:
  br label %enter335
enter335:
  br label %for331
for331:
  %i331 = phi i64 [%v309, %enter335], [%i331.next, %for331]
  %v336 = sub i64 %v14, %i331
  %v337 = call i64 @llvm.smin.i64(i64 %v336, i64 16)
  %v338 = trunc i64 %v337 to i32
  %v339 = insertelement <16 x i32> poison, i32 %v338, i32 0
  %v340 = shufflevector <16 x i32> %v339, <16 x i32> poison, <16 x i32> zeroinitializer
  %v341 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v340
  %v342 = getelementptr float, ptr %v316, i64 %i331
  %v343 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v342, i32 4, <16 x i1> %v341, <16 x float> zeroinitializer)
  %v344 = fdiv <16 x float> %v343, %v322
  %v345 = getelementptr float, ptr %v316, i64 %i331
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v344, ptr %v345, i32 4, <16 x i1> %v341)
  %i331.next = add nsw i64 %i331, 16
  %v346 = icmp slt i64 %i331.next, %v14
  br i1 %v346, label %for331, label %done332
done332:
  br label %some306
some306:
  %i21.next = add nsw i64 %i21, 1
  %v347 = icmp slt i64 %i21.next, %end
  br i1 %v347, label %for21, label %done22
done22:
  br label %exit11
exit11:
  %v348 = load i32, ptr %stack6
  %v349 = icmp ne i32 %v348, 0
  br i1 %v349, label %report350, label %reported351, !prof !0
report350:
  %v352 = icmp eq i32 %v348, -1
  %v353 = load i64, ptr %stack7
  %v354 = select i1 %v352, i64 -1, i64 %v353
  call void @report_failure(ptr %context, i64 %v354, i32 %v348, ptr %stack10)
  br label %reported351
reported351:
  ret void
}

define internal i1 @stopped(ptr %shared) noinline cold nounwind {
entry:
  %v1 = call i32 @graphify_poll()
  %v2 = icmp ne i32 %v1, 0
  %v3 = getelementptr i64, ptr %shared, i64 0
  %v4 = load atomic i64, ptr %v3 monotonic, align 8
  %v5 = icmp eq i64 %v4, -1
  %v6 = or i1 %v2, %v5
  ret i1 %v6
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

define internal i32 @share(ptr %pieces, ptr %shared, i64 %count, i64 %work) noinline nounwind {
entry:
  %v1 = getelementptr i64, ptr %shared, i64 0
  store i64 9223372036854775807, ptr %v1
  %v2 = getelementptr i64, ptr %shared, i64 1
  store i64 0, ptr %v2
  %v3 = getelementptr i64, ptr %shared, i64 2
  store i64 0, ptr %v3
  %v4 = call i64 @llvm.smax.i64(i64 %work, i64 1)
  %v5 = sdiv i64 4999999, %v4
  %v6 = add i64 %v5, 1
  %v10 = icmp sgt i64 %count, %v6
  br i1 %v10, label %many7, label %few8
many7:
  call void @graphify_parallel(ptr %pieces, ptr %shared, i64 %count, i64 %v6)
  br label %after9
few8:
  call void %pieces(ptr %shared, i64 0, i64 %count)
  br label %after9
after9:
  %v11 = getelementptr i64, ptr %shared, i64 1
  %v12 = load i32, ptr %v11
  ret i32 %v12
}
