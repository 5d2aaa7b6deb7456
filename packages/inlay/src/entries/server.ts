export * from '@inlay/server'
