import type { HostTransaction } from '@inlay/records'
import { CompiledQuery } from 'kysely'

export type { HostTransaction } from '@inlay/records'

type Rows = readonly unknown[]

/** A transaction of Kysely, for `accept` and `remove`. */
export function kyselyTransaction(transaction: {
  withoutPlugins(): { executeQuery(query: CompiledQuery): Promise<{ readonly rows: Rows }> }
}): HostTransaction {
  // A plugin could rename columns.
  const plain = transaction.withoutPlugins()
  return { query: (sql, parameters) => plain.executeQuery(CompiledQuery.raw(sql, parameters)) }
}

/** A transaction of Drizzle, for `accept` and `remove`. @param sql the tag of `drizzle-orm` */
export function drizzleTransaction<Query>(
  transaction: { execute(query: Query): PromiseLike<Rows | { readonly rows: Rows }> },
  sql: (strings: TemplateStringsArray, ...values: unknown[]) => Query,
): HostTransaction {
  return {
    query: async (text, parameters) => {
      // The statements have each parameter once, in order.
      const parts = text.split(/\$\d+/)
      const result = await transaction.execute(sql(Object.assign(parts, { raw: parts }), ...parameters))
      // Postgres.js resolves to the rows themselves.
      return 'rows' in result ? result : { rows: result }
    },
  }
}

/** An interactive transaction of Prisma, for `accept` and `remove`. */
export function prismaTransaction(transaction: {
  $queryRawUnsafe(sql: string, ...parameters: unknown[]): PromiseLike<unknown>
}): HostTransaction {
  return {
    query: async (sql, parameters) => ({ rows: (await transaction.$queryRawUnsafe(sql, ...parameters)) as Rows }),
  }
}
