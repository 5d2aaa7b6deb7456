export { admin as adminTexts } from './admin.ts'
export { documents as documentTexts } from './documents.ts'
export { health as healthTexts } from './health.ts'
