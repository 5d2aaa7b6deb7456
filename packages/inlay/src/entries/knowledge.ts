export { createKnowledge, dropIndexes, migrateKnowledge } from '@inlay/knowledge'
export type * from '@inlay/knowledge'
