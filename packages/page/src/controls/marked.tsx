import type { JSX } from 'preact'
import { matchOf } from '../search/matches.ts'

/** A text whose words of a query are marked. */
export function Marked({ text, query }: { text: string; query: string }): JSX.Element {
  return (
    <>
      {matchOf(text, query).pieces.map((piece, at) =>
        piece.isMatch ? (
          <mark key={at} class="match">
            {piece.text}
          </mark>
        ) : (
          piece.text
        ),
      )}
    </>
  )
}
