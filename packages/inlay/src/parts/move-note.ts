import { InlayError } from '@inlay/protocol'
import type { AnyDatabase } from '@inlay/records'
import { sql } from 'kysely'

/** What a database records about a move: of its data to another one, or of another one's data into it. */
export interface MoveNote {
  /** The same in both databases. */
  readonly id: string
  /** `leaving`: copied to another one; `moved`: no longer in use; `arriving`: not complete yet. */
  readonly state: 'leaving' | 'moved' | 'arriving'
  /** The other database, without user and password. */
  readonly place: string
  /** ISO time. */
  readonly at: string
}

/** The note; undefined without one, or in a database without tables. */
export async function readMove(db: AnyDatabase): Promise<MoveNote | undefined> {
  const { rows } = await sql<{ figures: string }>`select figures from inlay_figures where name = 'move'`
    .execute(db)
    .catch((error: unknown) => {
      const { code, message } = Object(error) as { code?: unknown; message?: unknown }
      if (code === '42P01' || String(message).startsWith('no such table')) return { rows: [] }
      throw error
    })
  // Written only here.
  return rows[0] && (JSON.parse(rows[0].figures) as MoveNote)
}

/** Replaces the note, or removes it. @throws CONFLICT as {@link checkNote} */
export async function writeMove(db: AnyDatabase, note: MoveNote | undefined, known?: MoveNote): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ figures: string }>`
      delete from inlay_figures where name = 'move' returning figures`.execute(transaction)
    if (known && rows[0]?.figures !== JSON.stringify(known)) throw takenOver()
    if (note)
      await sql`insert into inlay_figures (name, sampled_at, figures)
        values ('move', ${Date.now()}, ${JSON.stringify(note)})`.execute(transaction)
  })
}

/** @throws CONFLICT if the note is another one: of two moves at once, one would undo what the other relies on */
export async function checkNote(db: AnyDatabase, note: MoveNote): Promise<void> {
  if (JSON.stringify(await readMove(db)) !== JSON.stringify(note)) throw takenOver()
}

const takenOver = (): InlayError =>
  new InlayError('CONFLICT', { message: 'The move was started again or cancelled by another process: this one ends.' })

/** @throws SERVICE_UNAVAILABLE if the data of a database is elsewhere, or not all here yet */
export async function refuseMoved(db: AnyDatabase): Promise<void> {
  const note = await readMove(db)
  if (note === undefined || note.state === 'leaving') return
  const message =
    note.state === 'moved'
      ? `This data was moved to ${note.place} (${note.at}): start with those settings. To use it here again, without ` +
        'what was written there since, run inlay move --cancel.'
      : `The move of the data of ${note.place} to this database is not complete: run inlay move there again.`
  throw new InlayError('SERVICE_UNAVAILABLE', { message, data: { isForOperator: true, isExpected: true } })
}
