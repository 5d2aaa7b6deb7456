import type { IndexCondition, VectorIndex } from '@inlay/knowledge'
import type { PgTables } from './schema.ts'

/** Runs a statement; `Row` must describe the selected columns. */
export type Run = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>

interface Catalog {
  readonly rows: string | null
  readonly words: string | null
  readonly meta: string | null
  readonly identity: string | null
}

/** By the comment on the table of rows: one that was recreated, or restored without the comment, has none. */
export function identification(
  run: Run,
  tables: PgTables,
  spaceId: () => string | undefined,
): Required<Pick<VectorIndex, 'inspect' | 'mark'>> {
  return {
    inspect: async ({ thorough = false } = {}) => {
      const [catalog] = await run<Catalog>(
        `select to_regclass($1)::text as rows, to_regclass($2)::text as words, to_regclass($3)::text as meta,
         obj_description(to_regclass($1), 'pg_class') as identity`,
        [tables.rows, tables.words, tables.meta],
      )
      if (!catalog || catalog.rows === null) return { state: 'missing' }
      const state = thorough ? await stateOf(catalog) : 'present'
      return { state, ...(catalog.identity === null ? {} : { identity: catalog.identity }) }
    },
    mark: async (identity) =>
      void (await run(`comment on table ${tables.rows} is '${identity.replaceAll("'", "''")}'`)),
  }

  async function stateOf({ words, meta }: Catalog): Promise<IndexCondition['state']> {
    if (words === null || meta === null) return 'damaged'
    const wanted = spaceId()
    const [known] = await run<{ space: string }>(`select space from ${tables.meta}`)
    return wanted === undefined || known?.space === wanted ? 'present' : 'outdated'
  }
}
