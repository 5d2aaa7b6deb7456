export { authTypeSchema, readinessSchema, versionsSchema } from './start-up.ts'
export type { AuthType, Readiness, Versions } from './start-up.ts'
