export * from '@inlay/client'
export { InlayError, isInlayError } from '@inlay/protocol'
