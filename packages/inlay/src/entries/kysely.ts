export * from 'kysely'
