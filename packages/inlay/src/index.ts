export { createInlay } from './inlay.ts'
export type { Inlay, InlayOptions } from './inlay.ts'
export { readSettings } from './settings.ts'
export type { Settings } from './settings.ts'
