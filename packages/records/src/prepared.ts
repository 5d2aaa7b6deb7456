import type { CompiledQuery, Kysely } from 'kysely'

/** A statement with the values it was built for in place of parameters. */
interface Known<Row> {
  readonly query: CompiledQuery<Row>
  /** For each parameter: the name of its value, or what the statement always says. */
  readonly parameters: readonly unknown[]
}

/** Stands for a value while a statement is built. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
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
  const prepare = (db: Kysely<Tables>): Known<Row> => {
    const query = build(db, placeholders).compile()
    return { query, parameters: query.parameters }
  }
  return async (db, values) => {
    const executor = db.getExecutor()
    const { adapter, plugins } = executor
    // A plugin may see to it that a statement is another one each time.
    if (plugins.length > 0) return (await db.executeQuery<Row>(build(db, values).compile())).rows
    let statement = known.get(adapter)
    if (!statement) known.set(adapter, (statement = prepare(db)))
    const parameters = statement.parameters.map((given) =>
      given instanceof Placeholder ? Reflect.get(values, given.name) : given,
    )
    const query = { ...statement.query, parameters }
    // Without plugins, `executeQuery` of the database does the same with three more promises.
    return (await executor.provideConnection((connection) => connection.executeQuery<Row>(query))).rows
  }
}
