import type { SearchRanking } from '@inlay/protocol'
import { formatPercent } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

export function Ranking({ ranking }: { ranking: SearchRanking }) {
  const { score, words, vector, vector_weight: weight, recency, reranked, named } = ranking
  return (
    <dl class="ranking u-grid u-small" aria-label={texts.search.why}>
      {words !== null && (
        <Part name={texts.search.words} value={words} note={weight === null ? '' : texts.search.weight(1 - weight)} />
      )}
      {vector !== null && (
        <Part name={texts.search.vector} value={vector} note={weight === null ? '' : texts.search.weight(weight)} />
      )}
      {recency !== null && (
        <Part name={texts.search.recency} value={recency} note={texts.search.times(round(recency))} />
      )}
      <Part name={texts.search.score} value={score} note="" />
      {reranked && <dd class="u-all-columns">{texts.search.reranked}</dd>}
      {named && <dd class="u-all-columns">{texts.search.named}</dd>}
    </dl>
  )
}

const round = (factor: number): number => Math.round(factor * 100) / 100

function Part({ name, value, note }: { name: string; value: number; note: string }) {
  const share = Math.min(1, Math.max(0, value))
  return (
    <>
      <dt class="u-muted">{name}</dt>
      <dd>
        <meter aria-label={name} min={0} max={1} value={share} />
        <span class="count">{formatPercent(share)}</span>
        <span class="u-muted">{note}</span>
      </dd>
    </>
  )
}
