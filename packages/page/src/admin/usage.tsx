import { isJsonObject, readJson } from '@inlay/protocol'
import type { UsageEntry, UsageReport } from '@inlay/protocol/administration'
import { useState } from 'preact/hooks'
import { adminTexts } from '../texts/view-texts.ts'
import { formatDuration, formatNumber } from '../texts/locale.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { keep, readKept } from '../kept.ts'
import { Choice, Field, Figures, useRead, Waiting } from './parts.tsx'

/** Prices of a model per million tokens; null if not set. */
export interface Price {
  readonly input: number | null
  readonly output: number | null
}

type Prices = Readonly<Record<string, Price>>

const modelOf = ({ model_provider: provider, model_version: name }: UsageEntry): string =>
  name === null ? adminTexts.use.noModel : provider === null ? name : `${provider}/${name}`
const nameOf = ({ email, name }: UsageEntry): string => email ?? name

/** Cost of tokens; null without a price. */
function costOf(entry: UsageEntry, prices: Prices): number | null {
  const { input = null, output = null } = prices[modelOf(entry)] ?? {}
  if (input === null && output === null) return null
  return (entry.input_tokens * (input ?? 0) + entry.output_tokens * (output ?? 0)) / 1_000_000
}

export function sumsBy(entries: readonly UsageEntry[], by: (entry: UsageEntry) => string, prices: Prices, nameOf = by) {
  const groups = [...Map.groupBy(entries, by)]
  const sum = (list: readonly UsageEntry[], value: (entry: UsageEntry) => number): number =>
    list.reduce((total, entry) => total + value(entry), 0)
  return groups
    .map(([key, list]) => {
      const costs = list.map((entry) => costOf(entry, prices)).filter((cost) => cost !== null)
      return {
        key,
        name: nameOf(list[0]!),
        answers: sum(list, ({ answers }) => answers),
        failed: sum(list, ({ failed }) => failed),
        input: sum(list, (entry) => entry.input_tokens),
        output: sum(list, (entry) => entry.output_tokens),
        seconds: sum(list, ({ seconds }) => seconds),
        /** Null if no price is known. */
        cost: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
      }
    })
    .toSorted((left, right) => right.answers - left.answers)
}

const periods = [1, 7, 30, 90, 365]

export function Usage({ calls }: { calls: ServiceCalls }) {
  const texts = adminTexts.use
  const [days, setDays] = useState(30)
  const [prices, setPrices] = useState(readPrices)
  const report = useRead<UsageReport>(calls, `/admin/usage?days=${days}`)
  const entries = report.value?.entries ?? []
  const models = [...new Set(entries.map(modelOf))]
  const [total] = sumsBy(entries, () => texts.total, prices)
  const uncounted = entries.reduce((sum, { answers, counted }) => sum + answers - counted, 0)
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Choice
        label={texts.days}
        options={periods.map((period) => [period, texts.lastDays(period)])}
        value={days}
        isInline
        onChange={(value) => setDays(Number(value))}
      />
      <Waiting loaded={report} />
      {report.value !== undefined && entries.length === 0 && <p class="nothing u-muted">{texts.none}</p>}
      {entries.length > 0 && (
        <>
          <SumTable label={texts.byModel} head={texts.model} rows={sumsBy(entries, modelOf, prices)} total={total} />
          <SumTable
            label={texts.byPerson}
            head={texts.person}
            rows={sumsBy(entries, ({ user_id: id }) => id, prices, nameOf)}
            total={total}
          />
          {uncounted > 0 && <p class="facts u-small u-anywhere">{texts.uncounted(uncounted)}</p>}
          <details class="admin-section">
            <summary>{texts.prices}</summary>
            <p class="lead">{texts.pricesLead}</p>
            <div class="fields u-grid u-gap-12">
              {models.flatMap((model) =>
                (['input', 'output'] as const).map((side) => (
                  <Field
                    key={`${model} ${side}`}
                    label={side === 'input' ? texts.priceIn(model) : texts.priceOut(model)}
                    type="number"
                    min={0}
                    step="any"
                    defaultValue={prices[model]?.[side]?.toString() ?? ''}
                    onInput={(value) => {
                      const price = {
                        input: null,
                        output: null,
                        ...prices[model],
                        [side]: value === '' ? null : Number(value),
                      }
                      const changed = { ...prices, [model]: price }
                      setPrices(changed)
                      keep(storageName, JSON.stringify(changed))
                    }}
                  />
                )),
              )}
            </div>
          </details>
        </>
      )}
    </>
  )
}

interface SumTableProps {
  readonly label: string
  readonly head: string
  readonly rows: ReturnType<typeof sumsBy>
  readonly total: SumTableProps['rows'][number] | undefined
}

function SumTable({ label, head, rows, total }: SumTableProps) {
  const texts = adminTexts.use
  const hasCosts = total !== undefined && total.cost !== null
  return (
    <section aria-label={label}>
      <h2>{label}</h2>
      <Figures
        label={label}
        head={[
          head,
          texts.answers,
          texts.failed,
          texts.input,
          texts.output,
          texts.seconds,
          ...(hasCosts ? [texts.cost] : []),
        ]}
        words={1}
      >
        {[...rows, ...(rows.length > 1 && total !== undefined ? [total] : [])].map((row) => (
          <tr key={row === total ? '' : row.key} class={row === total ? 'total' : ''}>
            <th scope="row">{row.name}</th>
            {[row.answers, row.failed, row.input, row.output].map((value, at) => (
              <td key={at} class="amount">
                {formatNumber(value)}
              </td>
            ))}
            <td class="amount">
              {row.seconds > 0 && row.seconds < 1 ? `< ${formatDuration(1)}` : formatDuration(row.seconds)}
            </td>
            {hasCosts && (
              <td class="amount">{row.cost === null ? '' : formatNumber(Math.round(row.cost * 100) / 100)}</td>
            )}
          </tr>
        ))}
      </Figures>
    </section>
  )
}

const storageName = 'inlay-prices'

function readPrices(): Prices {
  const stored = readJson(readKept(storageName) ?? '{}')
  return isJsonObject(stored) ? (stored as Prices) : {}
}
