export type { EngineCall } from './engines.ts'
export type { ActiveTrace } from './spans.ts'
export { createTelemetry, metricsByTenant, type ConnectionPool, type Telemetry } from './telemetry.ts'
