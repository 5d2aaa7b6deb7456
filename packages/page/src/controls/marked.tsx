import { matchOf, chatQuery } from '../search/matches.ts'

/** A text of a chat whose words of a query are marked. */
export function Marked({ text, query }: { text: string; query: string }) {
  return (
    <>
      {matchOf(text, chatQuery(query)).pieces.map((piece, at) =>
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
