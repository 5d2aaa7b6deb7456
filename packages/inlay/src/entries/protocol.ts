export * from '@inlay/protocol'
