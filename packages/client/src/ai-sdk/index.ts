export type { InlayChunk, InlayData, InlayMetadata, InlayTools, InlayUIMessage } from './messages.ts'
export { inlayTransport } from './transport.ts'
export type { InlayTransport, InlayTransportOptions } from './transport.ts'
