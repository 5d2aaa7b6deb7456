// The check of health of the image, which has no curl: exits with 0 when this process is ready.
const { PORT = 3000, INLAY_BASE_PATH = '/api' } = process.env
fetch(`http://localhost:${PORT}${INLAY_BASE_PATH}/health/ready`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
)
