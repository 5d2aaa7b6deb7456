import { chatQuery, matchOf, type MatchPiece } from '../search/matches.ts'

export function Marked({ text, query }: { text: string; query: string }) {
  return <Pieces pieces={matchOf(text, chatQuery(query)).pieces} />
}

export const Pieces = ({ pieces }: { pieces: readonly MatchPiece[] }) => (
  <>
    {pieces.map(({ text, isMatch }, at) =>
      isMatch ? (
        <mark key={at} class="match">
          {text}
        </mark>
      ) : (
        text
      ),
    )}
  </>
)
