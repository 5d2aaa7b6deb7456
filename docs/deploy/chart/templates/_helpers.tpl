{{- define "inlay.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "inlay.fullname" -}}
{{- $name := include "inlay.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "inlay.selector" -}}
app.kubernetes.io/name: {{ include "inlay.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "inlay.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "inlay.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "inlay.serviceAccount" -}}
{{- default (ternary (include "inlay.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "inlay.basePath" -}}
{{- default "/api" .Values.settings.INLAY_BASE_PATH | trimSuffix "/" }}
{{- end }}

{{- /* What would lose data, or could not start, is refused before anything is installed. */}}
{{- define "inlay.check" -}}
{{- $known := merge (dict) .Values.settings .Values.secretSettings }}
{{- if eq .Values.mode "several" }}
{{- range list "INLAY_DATABASE_URL" "INLAY_FILES_URL" }}
{{- if not (or (hasKey $known .) (hasKey $known (print . "_FILE")) $.Values.existingSecrets) }}
{{- fail (printf "mode several needs %s in settings, in secretSettings or in a Secret of existingSecrets: pods keep nothing themselves." .) }}
{{- end }}
{{- end }}
{{- else if .Values.autoscaling.enabled }}
{{- fail "autoscaling needs mode: several, since one pod alone may use the volume of mode single." }}
{{- end }}
{{- range $name, $_ := .Values.secretSettings }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "%s is in settings and in secretSettings: keep one of them." $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "inlay.pod" -}}
metadata:
  labels:
    {{- include "inlay.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # A changed setting restarts the pods.
    checksum/settings: {{ list .Values.settings .Values.secretSettings | toJson | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "inlay.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Longer than notice and drain together, by what closing takes.
  terminationGracePeriodSeconds: {{ add .Values.shutdown.noticeSeconds .Values.shutdown.drainSeconds 15 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .Values.mode "several" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "inlay.selector" . | nindent 10 }}
  {{- end }}
  containers:
    - name: inlay
      image: {{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      ports:
        - { name: http, containerPort: 3000 }
      env:
        - { name: INLAY_SHUTDOWN_NOTICE, value: {{ .Values.shutdown.noticeSeconds | quote }} }
        - { name: INLAY_SHUTDOWN_DRAIN, value: {{ .Values.shutdown.drainSeconds | quote }} }
      envFrom:
        - configMapRef: { name: {{ include "inlay.fullname" . }} }
        {{- if .Values.secretSettings }}
        - secretRef: { name: {{ include "inlay.fullname" . }} }
        {{- end }}
        {{- range .Values.existingSecrets }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      # Opening may take minutes after an update that changes tables. Until then the process answers nothing.
      startupProbe:
        httpGet: { path: {{ include "inlay.basePath" . }}/health, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 120
      # Does not ask the database, whose outage no restart would end; a busy process has a minute.
      livenessProbe:
        httpGet: { path: {{ include "inlay.basePath" . }}/health, port: http }
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      # Answers within half a second, also while the database is silent.
      readinessProbe:
        httpGet: { path: {{ include "inlay.basePath" . }}/health/ready, port: http }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      {{- with .Values.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if eq .Values.mode "several" }}
    - { name: data, emptyDir: {} }
    {{- else if .Values.persistence.existingClaim }}
    - { name: data, persistentVolumeClaim: { claimName: {{ .Values.persistence.existingClaim }} } }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
