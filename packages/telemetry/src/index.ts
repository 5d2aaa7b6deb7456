export { createTelemetry, type AnsweredRequest, type Telemetry } from './telemetry.ts'
