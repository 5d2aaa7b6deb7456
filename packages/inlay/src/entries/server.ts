export {
  bearerKey,
  createAuditLog,
  createKeys,
  createServer,
  createUsageLimits,
  createWorkspaceRecords,
  migrateServer,
} from '@inlay/server'
export type * from '@inlay/server'
