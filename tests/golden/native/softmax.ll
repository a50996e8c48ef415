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
  %stack39 = alloca float, i64 1, align 64
  %stack48 = alloca <16 x float>, i64 1, align 64
  %stack49 = alloca <16 x float>, i64 1, align 64
  %stack50 = alloca <16 x float>, i64 1, align 64
  %stack51 = alloca <16 x float>, i64 1, align 64
  %stack52 = alloca <16 x float>, i64 1, align 64
  %stack53 = alloca <16 x float>, i64 1, align 64
  %stack54 = alloca <16 x float>, i64 1, align 64
  %stack55 = alloca <16 x float>, i64 1, align 64
  %stack56 = alloca <16 x i1>, i64 1, align 64
  %stack57 = alloca <16 x i1>, i64 1, align 64
  %stack58 = alloca <16 x i1>, i64 1, align 64
  %stack59 = alloca <16 x i1>, i64 1, align 64
  %stack60 = alloca <16 x i1>, i64 1, align 64
  %stack61 = alloca <16 x i1>, i64 1, align 64
  %stack62 = alloca <16 x i1>, i64 1, align 64
  %stack63 = alloca <16 x i1>, i64 1, align 64
  %stack212 = alloca double, i64 1, align 64
  %stack223 = alloca <16 x double>, i64 1, align 64
  %stack225 = alloca <16 x float>, i64 1, align 64
  %stack226 = alloca <16 x float>, i64 1, align 64
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
  %i21 = phi i64 [%begin, %enter25], [%i21.next, %some312]
  store i64 %i21, ptr %stack7
  %v28 = and i64 %i21, 7
  %v29 = icmp eq i64 %v28, 7
  br i1 %v29, label %due26, label %on27, !prof !0
due26:
  %v30 = call i32 @graphify_poll()
  %v31 = icmp ne i32 %v30, 0
  br i1 %v31, label %out32, label %on33, !prof !0
out32:
  store i32 -1, ptr %stack6
  br label %exit11
on33:
  %v34 = getelementptr i64, ptr %context, i64 0
  %v35 = load atomic i64, ptr %v34 monotonic, align 8
  %v36 = icmp eq i64 %v35, -1
  br i1 %v36, label %out37, label %on38, !prof !0
out37:
  store i32 -1, ptr %stack6
  br label %exit11
on38:
  br label %on27
on27:
  store float 0xFFF0000000000000, ptr %stack39
  ; vector for j in x1:
  %v40 = icmp sgt i64 %v14, 0
  br i1 %v40, label %some41, label %some42
some41:
  br label %steps43
steps43:
  %v70 = mul i64 %i21, %v14
  %v71 = getelementptr float, ptr %v18, i64 %v70
  br label %vector44
vector44:
  %v45 = load float, ptr %stack39
  %v46 = insertelement <16 x float> poison, float %v45, i32 0
  %v47 = shufflevector <16 x float> %v46, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v47, ptr %stack48
  store <16 x float> %v47, ptr %stack49
  store <16 x float> %v47, ptr %stack50
  store <16 x float> %v47, ptr %stack51
  store <16 x float> %v47, ptr %stack52
  store <16 x float> %v47, ptr %stack53
  store <16 x float> %v47, ptr %stack54
  store <16 x float> %v47, ptr %stack55
  store <16 x i1> zeroinitializer, ptr %stack56
  store <16 x i1> zeroinitializer, ptr %stack57
  store <16 x i1> zeroinitializer, ptr %stack58
  store <16 x i1> zeroinitializer, ptr %stack59
  store <16 x i1> zeroinitializer, ptr %stack60
  store <16 x i1> zeroinitializer, ptr %stack61
  store <16 x i1> zeroinitializer, ptr %stack62
  store <16 x i1> zeroinitializer, ptr %stack63
  %v64 = and i64 %v14, -128
  %v68 = icmp slt i64 0, %v64
  br i1 %v68, label %first67, label %done66
first67:
  br label %enter69
enter69:
  br label %for65
for65:
  %i65 = phi i64 [0, %enter69], [%i65.next, %for65]
  %v72 = getelementptr float, ptr %v71, i64 %i65
  %v73 = load <16 x float>, ptr %v72, align 4
  %v74 = load <16 x float>, ptr %stack48
  %v75 = fcmp uno <16 x float> %v73, %v73
  %v76 = load <16 x i1>, ptr %stack56
  %v77 = or <16 x i1> %v76, %v75
  store <16 x i1> %v77, ptr %stack56
  %v78 = fcmp ogt <16 x float> %v74, %v73
  %v79 = select <16 x i1> %v78, <16 x float> %v74, <16 x float> %v73
  store <16 x float> %v79, ptr %stack48
  %v80 = add i64 %i65, 16
  %v81 = getelementptr float, ptr %v71, i64 %v80
  %v82 = load <16 x float>, ptr %v81, align 4
  %v83 = load <16 x float>, ptr %stack49
  %v84 = fcmp uno <16 x float> %v82, %v82
  %v85 = load <16 x i1>, ptr %stack57
  %v86 = or <16 x i1> %v85, %v84
  store <16 x i1> %v86, ptr %stack57
  %v87 = fcmp ogt <16 x float> %v83, %v82
  %v88 = select <16 x i1> %v87, <16 x float> %v83, <16 x float> %v82
  store <16 x float> %v88, ptr %stack49
  %v89 = add i64 %i65, 32
  %v90 = getelementptr float, ptr %v71, i64 %v89
  %v91 = load <16 x float>, ptr %v90, align 4
  %v92 = load <16 x float>, ptr %stack50
  %v93 = fcmp uno <16 x float> %v91, %v91
  %v94 = load <16 x i1>, ptr %stack58
  %v95 = or <16 x i1> %v94, %v93
  store <16 x i1> %v95, ptr %stack58
  %v96 = fcmp ogt <16 x float> %v92, %v91
  %v97 = select <16 x i1> %v96, <16 x float> %v92, <16 x float> %v91
  store <16 x float> %v97, ptr %stack50
  %v98 = add i64 %i65, 48
  %v99 = getelementptr float, ptr %v71, i64 %v98
  %v100 = load <16 x float>, ptr %v99, align 4
  %v101 = load <16 x float>, ptr %stack51
  %v102 = fcmp uno <16 x float> %v100, %v100
  %v103 = load <16 x i1>, ptr %stack59
  %v104 = or <16 x i1> %v103, %v102
  store <16 x i1> %v104, ptr %stack59
  %v105 = fcmp ogt <16 x float> %v101, %v100
  %v106 = select <16 x i1> %v105, <16 x float> %v101, <16 x float> %v100
  store <16 x float> %v106, ptr %stack51
  %v107 = add i64 %i65, 64
  %v108 = getelementptr float, ptr %v71, i64 %v107
  %v109 = load <16 x float>, ptr %v108, align 4
  %v110 = load <16 x float>, ptr %stack52
  %v111 = fcmp uno <16 x float> %v109, %v109
  %v112 = load <16 x i1>, ptr %stack60
  %v113 = or <16 x i1> %v112, %v111
  store <16 x i1> %v113, ptr %stack60
  %v114 = fcmp ogt <16 x float> %v110, %v109
  %v115 = select <16 x i1> %v114, <16 x float> %v110, <16 x float> %v109
  store <16 x float> %v115, ptr %stack52
  %v116 = add i64 %i65, 80
  %v117 = getelementptr float, ptr %v71, i64 %v116
  %v118 = load <16 x float>, ptr %v117, align 4
  %v119 = load <16 x float>, ptr %stack53
  %v120 = fcmp uno <16 x float> %v118, %v118
  %v121 = load <16 x i1>, ptr %stack61
  %v122 = or <16 x i1> %v121, %v120
  store <16 x i1> %v122, ptr %stack61
  %v123 = fcmp ogt <16 x float> %v119, %v118
  %v124 = select <16 x i1> %v123, <16 x float> %v119, <16 x float> %v118
  store <16 x float> %v124, ptr %stack53
  %v125 = add i64 %i65, 96
  %v126 = getelementptr float, ptr %v71, i64 %v125
  %v127 = load <16 x float>, ptr %v126, align 4
  %v128 = load <16 x float>, ptr %stack54
  %v129 = fcmp uno <16 x float> %v127, %v127
  %v130 = load <16 x i1>, ptr %stack62
  %v131 = or <16 x i1> %v130, %v129
  store <16 x i1> %v131, ptr %stack62
  %v132 = fcmp ogt <16 x float> %v128, %v127
  %v133 = select <16 x i1> %v132, <16 x float> %v128, <16 x float> %v127
  store <16 x float> %v133, ptr %stack54
  %v134 = add i64 %i65, 112
  %v135 = getelementptr float, ptr %v71, i64 %v134
  %v136 = load <16 x float>, ptr %v135, align 4
  %v137 = load <16 x float>, ptr %stack55
  %v138 = fcmp uno <16 x float> %v136, %v136
  %v139 = load <16 x i1>, ptr %stack63
  %v140 = or <16 x i1> %v139, %v138
  store <16 x i1> %v140, ptr %stack63
  %v141 = fcmp ogt <16 x float> %v137, %v136
  %v142 = select <16 x i1> %v141, <16 x float> %v137, <16 x float> %v136
  store <16 x float> %v142, ptr %stack55
  %i65.next = add nsw i64 %i65, 128
  %v143 = icmp slt i64 %i65.next, %v64
  br i1 %v143, label %for65, label %done66
done66:
  %v147 = icmp slt i64 %v64, %v14
  br i1 %v147, label %first146, label %done145
first146:
  br label %enter148
enter148:
  br label %for144
for144:
  %i144 = phi i64 [%v64, %enter148], [%i144.next, %for144]
  %v149 = sub i64 %v14, %i144
  %v150 = call i64 @llvm.smin.i64(i64 %v149, i64 16)
  %v151 = trunc i64 %v150 to i32
  %v152 = insertelement <16 x i32> poison, i32 %v151, i32 0
  %v153 = shufflevector <16 x i32> %v152, <16 x i32> poison, <16 x i32> zeroinitializer
  %v154 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v153
  %v155 = getelementptr float, ptr %v71, i64 %i144
  %v156 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v155, i32 4, <16 x i1> %v154, <16 x float> zeroinitializer)
  %v157 = load <16 x float>, ptr %stack48
  %v158 = fcmp uno <16 x float> %v156, %v156
  %v159 = and <16 x i1> %v158, %v154
  %v160 = load <16 x i1>, ptr %stack56
  %v161 = or <16 x i1> %v160, %v159
  store <16 x i1> %v161, ptr %stack56
  %v162 = fcmp ogt <16 x float> %v157, %v156
  %v163 = select <16 x i1> %v162, <16 x float> %v157, <16 x float> %v156
  %v164 = select <16 x i1> %v154, <16 x float> %v163, <16 x float> %v157
  store <16 x float> %v164, ptr %stack48
  %i144.next = add nsw i64 %i144, 16
  %v165 = icmp slt i64 %i144.next, %v14
  br i1 %v165, label %for144, label %done145
done145:
  %v166 = load <16 x float>, ptr %stack48
  %v167 = load <16 x float>, ptr %stack49
  %v168 = load <16 x float>, ptr %stack50
  %v169 = load <16 x float>, ptr %stack51
  %v170 = load <16 x float>, ptr %stack52
  %v171 = load <16 x float>, ptr %stack53
  %v172 = load <16 x float>, ptr %stack54
  %v173 = load <16 x float>, ptr %stack55
  %v174 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v166, <16 x float> %v167)
  %v175 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v168, <16 x float> %v169)
  %v176 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v170, <16 x float> %v171)
  %v177 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v172, <16 x float> %v173)
  %v178 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v174, <16 x float> %v175)
  %v179 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v176, <16 x float> %v177)
  %v180 = call <16 x float> @maths.maximum.v16f32(<16 x float> %v178, <16 x float> %v179)
  %v181 = shufflevector <16 x float> %v180, <16 x float> %v180, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v182 = shufflevector <16 x float> %v180, <16 x float> %v180, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v183 = call <8 x float> @maths.maximum.v8f32(<8 x float> %v181, <8 x float> %v182)
  %v184 = shufflevector <8 x float> %v183, <8 x float> %v183, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v185 = shufflevector <8 x float> %v183, <8 x float> %v183, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v186 = call <4 x float> @maths.maximum.v4f32(<4 x float> %v184, <4 x float> %v185)
  %v187 = shufflevector <4 x float> %v186, <4 x float> %v186, <2 x i32> <i32 0, i32 1>
  %v188 = shufflevector <4 x float> %v186, <4 x float> %v186, <2 x i32> <i32 2, i32 3>
  %v189 = call <2 x float> @maths.maximum.v2f32(<2 x float> %v187, <2 x float> %v188)
  %v190 = extractelement <2 x float> %v189, i64 0
  %v191 = extractelement <2 x float> %v189, i64 1
  %v192 = call float @maths.maximum.f32(float %v190, float %v191)
  %v193 = load <16 x i1>, ptr %stack56
  %v194 = load <16 x i1>, ptr %stack57
  %v195 = load <16 x i1>, ptr %stack58
  %v196 = load <16 x i1>, ptr %stack59
  %v197 = load <16 x i1>, ptr %stack60
  %v198 = load <16 x i1>, ptr %stack61
  %v199 = load <16 x i1>, ptr %stack62
  %v200 = load <16 x i1>, ptr %stack63
  %v201 = or <16 x i1> %v193, %v194
  %v202 = or <16 x i1> %v201, %v195
  %v203 = or <16 x i1> %v202, %v196
  %v204 = or <16 x i1> %v203, %v197
  %v205 = or <16 x i1> %v204, %v198
  %v206 = or <16 x i1> %v205, %v199
  %v207 = or <16 x i1> %v206, %v200
  %v208 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v207)
  %v209 = select i1 %v208, float 0x7FF8000000000000, float %v192
  %v210 = load float, ptr %stack39
  %v211 = call float @maths.maximum.f32(float %v210, float %v209)
  store float %v211, ptr %stack39
  br label %some42
some42:
  %v213 = fpext float 0x0000000000000000 to double
  store double %v213, ptr %stack212
  ; vector for j in x1:
  %v214 = icmp sgt i64 %v14, 0
  br i1 %v214, label %some215, label %some216
some215:
  br label %steps217
steps217:
  %v240 = mul i64 %i21, %v14
  %v241 = getelementptr float, ptr %v18, i64 %v240
  %v244 = load float, ptr %stack39
  %v245 = insertelement <16 x float> poison, float %v244, i32 0
  %v246 = shufflevector <16 x float> %v245, <16 x float> poison, <16 x i32> zeroinitializer
  %v249 = getelementptr float, ptr %v20, i64 %v240
  br label %vector218
vector218:
  %v219 = getelementptr i8, ptr %constants, i64 0
  %v220 = load float, ptr %v219
  %v221 = insertelement <16 x float> poison, float %v220, i32 0
  %v222 = shufflevector <16 x float> %v221, <16 x float> poison, <16 x i32> zeroinitializer
  %v224 = fpext <16 x float> %v222 to <16 x double>
  store <16 x double> %v224, ptr %stack223
  store <16 x float> %v222, ptr %stack225
  store <16 x float> %v222, ptr %stack226
  %v227 = and i64 %v14, -32
  %v231 = icmp slt i64 0, %v227
  br i1 %v231, label %first230, label %done229
first230:
  br label %enter232
enter232:
  br label %for228
for228:
  %i228 = phi i64 [0, %enter232], [%i228.next, %done236]
  %v233 = add i64 %i228, 512
  %v234 = call i64 @llvm.smin.i64(i64 %v233, i64 %v227)
  %v238 = icmp slt i64 %i228, %v234
  br i1 %v238, label %first237, label %done236
first237:
  br label %enter239
enter239:
  br label %for235
for235:
  %i235 = phi i64 [%i228, %enter239], [%i235.next, %for235]
  %v242 = getelementptr float, ptr %v241, i64 %i235
  %v243 = load <16 x float>, ptr %v242, align 4
  %v247 = fsub <16 x float> %v243, %v246
  %v248 = call <16 x float> @maths.exp.v16f32(<16 x float> %v247)
  %v250 = getelementptr float, ptr %v249, i64 %i235
  store <16 x float> %v248, ptr %v250, align 4
  %v251 = load <16 x float>, ptr %stack225
  %v252 = fadd <16 x float> %v251, %v248
  store <16 x float> %v252, ptr %stack225
  %v253 = add i64 %i235, 16
  %v254 = getelementptr float, ptr %v241, i64 %v253
  %v255 = load <16 x float>, ptr %v254, align 4
  %v256 = fsub <16 x float> %v255, %v246
  %v257 = call <16 x float> @maths.exp.v16f32(<16 x float> %v256)
  %v258 = getelementptr float, ptr %v249, i64 %v253
  store <16 x float> %v257, ptr %v258, align 4
  %v259 = load <16 x float>, ptr %stack226
  %v260 = fadd <16 x float> %v259, %v257
  store <16 x float> %v260, ptr %stack226
  %i235.next = add nsw i64 %i235, 32
  %v261 = icmp slt i64 %i235.next, %v234
  br i1 %v261, label %for235, label %done236
done236:
  %v262 = load <16 x float>, ptr %stack225
  %v263 = load <16 x float>, ptr %stack226
  %v264 = fadd <16 x float> %v262, %v263
  %v265 = fpext <16 x float> %v264 to <16 x double>
  %v266 = load <16 x double>, ptr %stack223
  %v267 = fadd <16 x double> %v266, %v265
  store <16 x double> %v267, ptr %stack223
  store <16 x float> %v222, ptr %stack225
  store <16 x float> %v222, ptr %stack226
  %i228.next = add nsw i64 %i228, 512
  %v268 = icmp slt i64 %i228.next, %v227
  br i1 %v268, label %for228, label %done229
done229:
  %v272 = icmp slt i64 %v227, %v14
  br i1 %v272, label %first271, label %done270
first271:
  br label %enter273
enter273:
  br label %for269
for269:
  %i269 = phi i64 [%v227, %enter273], [%i269.next, %for269]
  %v274 = sub i64 %v14, %i269
  %v275 = call i64 @llvm.smin.i64(i64 %v274, i64 16)
  %v276 = trunc i64 %v275 to i32
  %v277 = insertelement <16 x i32> poison, i32 %v276, i32 0
  %v278 = shufflevector <16 x i32> %v277, <16 x i32> poison, <16 x i32> zeroinitializer
  %v279 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v278
  %v280 = getelementptr float, ptr %v241, i64 %i269
  %v281 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v280, i32 4, <16 x i1> %v279, <16 x float> zeroinitializer)
  %v282 = fsub <16 x float> %v281, %v246
  %v283 = call <16 x float> @maths.exp.v16f32(<16 x float> %v282)
  %v284 = getelementptr float, ptr %v249, i64 %i269
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v283, ptr %v284, i32 4, <16 x i1> %v279)
  %v285 = load <16 x float>, ptr %stack225
  %v286 = fadd <16 x float> %v285, %v283
  %v287 = select <16 x i1> %v279, <16 x float> %v286, <16 x float> %v285
  store <16 x float> %v287, ptr %stack225
  %i269.next = add nsw i64 %i269, 16
  %v288 = icmp slt i64 %i269.next, %v14
  br i1 %v288, label %for269, label %done270
done270:
  %v289 = load <16 x float>, ptr %stack225
  %v290 = load <16 x float>, ptr %stack226
  %v291 = fadd <16 x float> %v289, %v290
  %v292 = fpext <16 x float> %v291 to <16 x double>
  %v293 = load <16 x double>, ptr %stack223
  %v294 = fadd <16 x double> %v293, %v292
  store <16 x double> %v294, ptr %stack223
  store <16 x float> %v222, ptr %stack225
  store <16 x float> %v222, ptr %stack226
  %v295 = load <16 x double>, ptr %stack223
  %v296 = shufflevector <16 x double> %v295, <16 x double> %v295, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v297 = shufflevector <16 x double> %v295, <16 x double> %v295, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v298 = fadd <8 x double> %v296, %v297
  %v299 = shufflevector <8 x double> %v298, <8 x double> %v298, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v300 = shufflevector <8 x double> %v298, <8 x double> %v298, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v301 = fadd <4 x double> %v299, %v300
  %v302 = shufflevector <4 x double> %v301, <4 x double> %v301, <2 x i32> <i32 0, i32 1>
  %v303 = shufflevector <4 x double> %v301, <4 x double> %v301, <2 x i32> <i32 2, i32 3>
  %v304 = fadd <2 x double> %v302, %v303
  %v305 = extractelement <2 x double> %v304, i64 0
  %v306 = extractelement <2 x double> %v304, i64 1
  %v307 = fadd double %v305, %v306
  %v308 = load double, ptr %stack212
  %v309 = fadd double %v308, %v307
  store double %v309, ptr %stack212
  br label %some216
some216:
  ; vector for j in x1:
  %v310 = icmp sgt i64 %v14, 0
  br i1 %v310, label %some311, label %some312
some311:
  br label %steps313
steps313:
  %v321 = mul i64 %i21, %v14
  %v322 = getelementptr float, ptr %v20, i64 %v321
  %v325 = load double, ptr %stack212
  %v326 = fptrunc double %v325 to float
  %v327 = insertelement <16 x float> poison, float %v326, i32 0
  %v328 = shufflevector <16 x float> %v327, <16 x float> poison, <16 x i32> zeroinitializer
  br label %vector314
vector314:
  %v315 = and i64 %v14, -32
  %v319 = icmp slt i64 0, %v315
  br i1 %v319, label %first318, label %done317
first318:
  br label %enter320
enter320:
  br label %for316
for316:
  %i316 = phi i64 [0, %enter320], [%i316.next, %for316]
  %v323 = getelementptr float, ptr %v322, i64 %i316
  %v324 = load <16 x float>, ptr %v323, align 4
  %v329 = fdiv <16 x float> %v324, %v328
  %v330 = getelementptr float, ptr %v322, i64 %i316
  store <16 x float> %v329, ptr %v330, align 4
  %v331 = add i64 %i316, 16
  %v332 = getelementptr float, ptr %v322, i64 %v331
  %v333 = load <16 x float>, ptr %v332, align 4
  %v334 = fdiv <16 x float> %v333, %v328
  %v335 = getelementptr float, ptr %v322, i64 %v331
  store <16 x float> %v334, ptr %v335, align 4
  %i316.next = add nsw i64 %i316, 32
  %v336 = icmp slt i64 %i316.next, %v315
  br i1 %v336, label %for316, label %done317
done317:
  %v340 = icmp slt i64 %v315, %v14
  br i1 %v340, label %first339, label %done338
first339:
  br label %enter341
enter341:
  br label %for337
for337:
  %i337 = phi i64 [%v315, %enter341], [%i337.next, %for337]
  %v342 = sub i64 %v14, %i337
  %v343 = call i64 @llvm.smin.i64(i64 %v342, i64 16)
  %v344 = trunc i64 %v343 to i32
  %v345 = insertelement <16 x i32> poison, i32 %v344, i32 0
  %v346 = shufflevector <16 x i32> %v345, <16 x i32> poison, <16 x i32> zeroinitializer
  %v347 = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v346
  %v348 = getelementptr float, ptr %v322, i64 %i337
  %v349 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %v348, i32 4, <16 x i1> %v347, <16 x float> zeroinitializer)
  %v350 = fdiv <16 x float> %v349, %v328
  %v351 = getelementptr float, ptr %v322, i64 %i337
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v350, ptr %v351, i32 4, <16 x i1> %v347)
  %i337.next = add nsw i64 %i337, 16
  %v352 = icmp slt i64 %i337.next, %v14
  br i1 %v352, label %for337, label %done338
done338:
  br label %some312
some312:
  %i21.next = add nsw i64 %i21, 1
  %v353 = icmp slt i64 %i21.next, %end
  br i1 %v353, label %for21, label %done22
done22:
  br label %exit11
exit11:
  %v354 = load i32, ptr %stack6
  %v355 = icmp ne i32 %v354, 0
  br i1 %v355, label %report356, label %reported357, !prof !0
report356:
  %v358 = icmp eq i32 %v354, -1
  %v359 = load i64, ptr %stack7
  %v360 = select i1 %v358, i64 -1, i64 %v359
  call void @report_failure(ptr %context, i64 %v360, i32 %v354, ptr %stack10)
  br label %reported357
reported357:
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
