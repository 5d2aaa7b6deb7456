import type { CompiledQuery, Kysely } from 'kysely'
import type { AnyDatabase } from './dialect.ts'

/** A statement with the values it was built for in place of parameters. */
interface Known<Row> {
  readonly query: CompiledQuery<Row>
  /** For each parameter: the name of its value, or what the statement always says. */
  readonly parameters: readonly unknown[]
}

/** Stands for a value while a statement is built. */
class Placeholder {
  readonly name: string
  /** Position of its row, for a statement with several. */
  readonly row: number
  constructor(name: string, row = 0) {
    this.name = name
    this.row = row
  }
}

/**
 * Prepares a statement that is run often: it is built once for each database, which costs several times as much as
 * running it. It has to be the same for all values, and may pass them on only as parameters, unchanged.
 * @returns runs it, and resolves to its rows
 * @example
 * const rename = prepared((db: Kysely<Tables>, { id, name }: Named) => db.updateTable('note').set({ name }).where('id', '=', id))
 * await rename(db, { id: 1, name: 'New' })
 */
export function prepared<Tables, Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => { compile(): CompiledQuery<Row> },
): (db: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  const known = new WeakMap<object, Known<Row>>()
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values
  return async (db, values) => {
    const { adapter, plugins } = db.getExecutor()
    // A plugin may see to it that a statement is another one each time.
    if (plugins.length > 0) return (await db.executeQuery<Row>(build(db, values).compile())).rows
    let statement = known.get(adapter)
    if (!statement) known.set(adapter, (statement = prepare(build(db, placeholders))))
    return run(db, statement, [values])
  }
}

/**
 * Prepares a statement that inserts rows, see {@link prepared}. It is built once for each power of two, and any number
 * of rows is split into these: the database would otherwise compile another statement for each number. Each row needs a
 * value for each column. Several statements may run: call it in a transaction.
 * @param columns names of all columns of a row
 * @example
 * const add = preparedRows(['id', 'name'], (db: Kysely<Tables>, rows: readonly Note[]) => db.insertInto('note').values(rows))
 * await add(db, [{ id: 1, name: 'One' }, { id: 2, name: 'Two' }])
 */
export function preparedRows<Tables, Inserted extends object>(
  columns: readonly (keyof Inserted & string)[],
  build: (db: Kysely<Tables>, rows: readonly Inserted[]) => { compile(): CompiledQuery<unknown> },
): (db: Kysely<Tables>, rows: readonly Inserted[]) => Promise<void> {
  const known = new WeakMap<object, Map<number, Known<unknown>>>()
  const placeholders = (count: number): Inserted[] =>
    Array.from(
      { length: count },
      (_, row) => Object.fromEntries(columns.map((name) => [name, new Placeholder(name, row)])) as Inserted,
    )
  return async (db, rows) => {
    const { adapter, plugins } = db.getExecutor()
    let bySize = known.get(adapter)
    if (!bySize) known.set(adapter, (bySize = new Map()))
    for (let at = 0; at < rows.length;) {
      const size = Math.min(maxRows, 2 ** Math.floor(Math.log2(rows.length - at)))
      const part = rows.slice(at, at + size)
      at += size
      if (plugins.length > 0) {
        await db.executeQuery(build(db, part).compile())
        continue
      }
      let statement = bySize.get(size)
      if (!statement) bySize.set(size, (statement = prepare(build(db, placeholders(size)))))
      await run(db, statement, part)
    }
  }
}

/** A longer statement costs more memory, and no less time for each row. */
const maxRows = 64

function prepare<Row>(built: { compile(): CompiledQuery<Row> }): Known<Row> {
  const query = built.compile()
  return { query, parameters: query.parameters }
}

async function run<Row>(db: AnyDatabase, statement: Known<Row>, rows: readonly object[]): Promise<readonly Row[]> {
  const parameters = statement.parameters.map((given) =>
    given instanceof Placeholder ? Reflect.get(rows[given.row]!, given.name) : given,
  )
  const query = { ...statement.query, parameters }
  // Without plugins, `executeQuery` of the database does the same with three more promises.
  return (await db.getExecutor().provideConnection((connection) => connection.executeQuery<Row>(query))).rows
}
