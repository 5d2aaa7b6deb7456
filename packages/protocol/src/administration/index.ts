export { apiKeyCreationSchema, apiKeyDescriptorSchema, apiKeyUpdateSchema } from './api-keys.ts'
export type { ApiKeyCreation, ApiKeyDescriptor, ApiKeyUpdate } from './api-keys.ts'
export { authTypeSchema, readinessSchema, versionsSchema } from './start-up.ts'
export type { AuthType, Readiness, Versions } from './start-up.ts'
