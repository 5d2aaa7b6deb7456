export * from '@inlay/agent'
