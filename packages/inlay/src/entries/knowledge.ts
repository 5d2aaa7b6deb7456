export * from '@inlay/knowledge'
