import type { AnyDatabase } from './dialect.ts'

/** Something that happened: a type such as `document.indexed`, and its data as JSON. */
export interface OutgoingEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Stores events in the transaction of what they report, so that neither exists without the other. */
export type RecordEvents = (transaction: AnyDatabase, events: readonly OutgoingEvent[]) => Promise<void>
