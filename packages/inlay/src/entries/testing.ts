export * from '@inlay/agent/testing'
