import { must, mustEqual, mustReject, type Checks } from '../contract.ts'
import { sql } from 'kysely'
import { namesIn, noteOf, type Databases } from './dialect-fixture.ts'

const texts: readonly string[] = [
  '',
  ' space at both ends ',
  `It's "odd" \\ 100%_;-- $1 ? :name`,
  '日本 é e\u0301 🦀\n\t\u2028',
  'x'.repeat(1_000_000),
]

export const statementChecks: Checks<Databases> = {
  async 'text comes back as it was written, and nothing is not the empty text'({ first, second, table }) {
    await first.insertInto(table).values(noteOf('none')).execute()
    for (const [at, note] of texts.entries())
      await first
        .insertInto(table)
        .values(noteOf(`text ${at}`, { note }))
        .execute()
    const rows = await second.selectFrom(table).select('note').orderBy('id').execute()
    must(
      [null, ...texts].every((note, at) => rows[at]?.note === note),
      'each text is the one that was written',
    )
    const [odd] = await second.selectFrom(table).select('name').where('note', '=', texts[2]!).execute()
    mustEqual(odd?.name, 'text 2', 'what a search for an odd text gives')
  },
  async 'whole numbers up to 2^53 - 1 come back exactly, below zero too'({ first, second, table }) {
    const numbers = [0, 1, -1, 2 ** 31, Date.UTC(2026, 1, 3), Number.MAX_SAFE_INTEGER, -62_135_596_800_000]
    for (const number of numbers)
      await first
        .insertInto(table)
        .values(noteOf(`number ${number}`, { count: number, at: number }))
        .execute()
    const rows = await second.selectFrom(table).select(['count', 'at']).orderBy('id').execute()
    mustEqual(
      rows.map(({ count }) => Number(count)),
      numbers,
      'numbers',
    )
    const late = await second
      .selectFrom(table)
      .select('name')
      .where('at', '>=', 2 ** 31)
      .execute()
    mustEqual(late.length, 3, 'rows from a number on')
    const sum = await second
      .updateTable(table)
      .set({ count: sql<number>`count + 2` })
      .where('name', '=', 'number -1')
      .returning('count')
      .executeTakeFirst()
    mustEqual(Number(sum?.count), 1, 'a sum made by the database')
  },
  async 'an insert gives the id it made; ids rise, and none is given twice'({ first, second, table }) {
    const add = async (db: Databases['first'], name: string): Promise<number> =>
      (await db.insertInto(table).values(noteOf(name)).returning('id').executeTakeFirstOrThrow()).id
    const ids = [await add(first, 'a'), await add(second, 'b'), await add(first, 'c')]
    must(ids.every(Number.isSafeInteger), 'ids are whole numbers')
    await first.deleteFrom(table).where('id', '=', ids[2]!).execute()
    ids.push(await add(second, 'd'))
    must(
      ids.every((id, at) => at === 0 || id > ids[at - 1]!),
      `ids rise: ${ids.join(', ')}`,
    )
  },
  async 'a change tells how many rows it changed'({ first, table }) {
    await first
      .insertInto(table)
      .values(['a', 'b', 'c'].map((name) => noteOf(name)))
      .execute()
    const change = first.updateTable(table).set({ count: 1 })
    const changed = await change.where('name', 'in', ['a', 'b']).executeTakeFirst()
    const none = await change.where('name', '=', 'nobody').executeTakeFirst()
    mustEqual([Number(changed.numUpdatedRows), Number(none.numUpdatedRows)], [2, 0], 'changed rows')
    const gone = await first.deleteFrom(table).where('count', '=', 1).executeTakeFirst()
    mustEqual(Number(gone.numDeletedRows), 2, 'deleted rows')
    const again = first
      .insertInto(table)
      .values(noteOf('c'))
      .onConflict((conflict) => conflict.doNothing())
    mustEqual((await again.returning('id').execute()).length, 0, 'rows of an insert that did nothing')
  },
  async 'a value that must be unique is refused, and the next statement goes well'({ first, second, table }) {
    const add = (db: Databases['first'], name: string) => db.insertInto(table).values(noteOf(name)).execute()
    await add(first, 'a')
    await mustReject(() => add(second, 'a'), undefined, 'a second row of that name')
    await mustReject(() => sql`no such statement`.execute(second), undefined, 'a statement that is none')
    await add(second, 'b')
    mustEqual(await namesIn(first, table), ['a', 'b'], 'rows')
  },
  async 'a statement takes a thousand values'({ first, table }) {
    const rows = Array.from({ length: 200 }, (_, at) => noteOf(`row ${at}`, { count: at, at }))
    await first.insertInto(table).values(rows).execute()
    const names = Array.from({ length: 1_000 }, (_, at) => `row ${at * 2}`)
    const even = await first.selectFrom(table).select('name').where('name', 'in', names).execute()
    mustEqual(even.length, 100, 'rows whose names are among a thousand')
  },
}
