import type { SourceText } from '@inlay/text/comparison'

export interface Citation {
  readonly number: number
  readonly documentId: string
}

/** A part of the answer, in the order of its packets. */
export type CitationPiece =
  | { readonly type: 'text'; readonly content: string }
  | ({ readonly type: 'citation' } & Citation)

/** Splits streaming text into text and citations. One instance serves all steps of an answer. */
export interface Citations {
  /** Takes text of any length; returns what is certain by now, in order; [] while all of it is held back. */
  push(text: string): readonly CitationPiece[]
  /**
   * Ends the text of a step and returns what was held back. The next step starts with new text and the same citations.
   * @param isCut whether the model was interrupted, so that its last sentence may be unfinished. Default: false
   */
  end(isCut?: boolean): readonly CitationPiece[]
  /** Documents cited so far in order of appearance, each once with the first number it was cited by; in every mode. */
  cited(): readonly Citation[]
}

export interface PlacedMark {
  /** The line up to the mark; each mark before it is the character U+0000. */
  readonly line: string
  /** Known numbers of the mark. */
  readonly numbers: readonly number[]
  /** The text right behind the mark, as far as known. */
  readonly rest: string
  /** Numbers of the marks directly before it. */
  readonly written: readonly number[]
}

/** Number of the document that supports a sentence, preferably of `preferred`; undefined when none clearly does. */
export type FindSupport = (sentence: string, preferred?: readonly number[]) => number | undefined

/** What the text of a model is compared with. */
export interface ComparedDocuments {
  /** Whether a text has a mark of one of the documents. */
  readonly hasMarker: (text: string) => boolean
  /** What the model read so far, by the number of its document; a negative one cannot be cited. */
  readonly texts: readonly SourceText<number>[]
  /** Default: by comparison with the texts. */
  readonly find?: FindSupport
  /** Whether no document can be cited yet. Default: some can. */
  readonly isEmpty?: boolean
  /** Whether uncited sentences are compared even when the model cites others. Default: false. */
  completesCitations?: boolean
  /** The question being answered; its words carry little weight in an answer. */
  question?: string
}

/** Moves wrong citations to the document that says it, or drops them, and adds missing ones. */
export type CompareCitations = (documents: ComparedDocuments) => CitationComparison

/** Compares the text of a model with the documents it read. */
export interface CitationComparison {
  readonly find: FindSupport
  /** Whether there is nothing to compare marks with yet. */
  isEmpty(): boolean
  /** Whether only the text behind a mark tells which sentence it cites, by the line before it. */
  awaitsRest(line: string): boolean
  /** The numbers to write for a mark of the model: its own, or those of documents that hold clearly more of its sentence. */
  checkMark(mark: PlacedMark): readonly number[]
  /** Adds the citations that the model leaves out. */
  complete(citations: Citations): Citations
}
