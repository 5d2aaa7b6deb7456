/** Content of a data folder of an earlier version, as recorded by its writer. */
export interface Manifest {
  /** Key of Ann, who chats. */
  readonly key: string
  /** Key of a member of the board, who searches. */
  readonly boardKey: string
  readonly revokedKey: string
  /** Ids of documents, one a language. */
  readonly documents: readonly string[]
  /** Ann's session with two answers, and the first of them. */
  readonly session: string
  readonly answer: string
  readonly file: string
  readonly persona: number
  readonly project: number
}
