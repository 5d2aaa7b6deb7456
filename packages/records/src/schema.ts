import { InlayError } from '@inlay/protocol'
import { sql, type CreateIndexBuilder, type CreateTableBuilder } from 'kysely'
import type { Migration } from 'kysely/migration'
import { generatedId, type AnyDatabase } from './dialect.ts'

const columnForm = /^(\w+) (text|integer|bigint|double precision|generated)((?: primary key| not null| unique)*)$/
const constraintForm = /^constraint (\w+) (primary key|unique) \(([\w, ]+)\)$/

/**
 * Creates tables in a migration.
 * @param tables by name: columns and constraints in SQL, such as `id generated, owner text not null, name text,
 * constraint some_key unique (owner, name)`. `generated` is an auto-increment primary key, see {@link generatedId}.
 */
export async function createTables(
  db: AnyDatabase,
  tables: Readonly<Record<string, string>>,
  { ifNotExists = false }: { readonly ifNotExists?: boolean } = {},
): Promise<void> {
  for (const [name, parts] of Object.entries(tables)) {
    const start: CreateTableBuilder<string, string> = db.schema.createTable(name)
    let table = ifNotExists ? start.ifNotExists() : start
    for (const part of parts.split(/,(?=\s)(?![^(]*\))/))
      table = withPart(db, table, part.trim().replaceAll(/\s+/g, ' '))
    await table.execute()
  }
}

function withPart(
  db: AnyDatabase,
  table: CreateTableBuilder<string, string>,
  part: string,
): CreateTableBuilder<string, string> {
  const [, column, type, marks = ''] = columnForm.exec(part) ?? []
  const [, constraint, kind, list = ''] = constraintForm.exec(part) ?? []
  if (column && type === 'generated') return table.addColumn(column, 'integer', generatedId(db))
  if (column)
    return table.addColumn(column, type as 'text', (builder) => {
      const keyed = marks.includes('primary key') ? builder.primaryKey() : builder
      const required = marks.includes('not null') ? keyed.notNull() : keyed
      return marks.includes('unique') ? required.unique() : required
    })
  if (!constraint) throw new InlayError('INTERNAL_ERROR', { message: `Neither a column nor a constraint: ${part}` })
  if (kind === 'unique') return table.addUniqueConstraint(constraint, list.split(', '))
  return table.addPrimaryKeyConstraint(constraint, list.split(', '))
}

/** An index to create in a migration, with `execute()`. */
export function indexOn(
  db: AnyDatabase,
  name: string,
  table: string,
  columns: readonly string[],
): CreateIndexBuilder<string> {
  return db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
}

/**
 * A migration of statements that both databases understand, and of tables as {@link createTables} takes them, unless they
 * exist. SQLite adds one column a statement.
 */
export function statements(...list: readonly (string | Readonly<Record<string, string>>)[]): Migration {
  return {
    async up(db) {
      for (const each of list)
        await (typeof each === 'string' ? sql.raw(each).execute(db) : createTables(db, each, { ifNotExists: true }))
    },
  }
}
