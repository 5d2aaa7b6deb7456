export * from '@inlay/agent/conformance'
export * from '@inlay/knowledge/conformance'
export * from '@inlay/server/conformance'
