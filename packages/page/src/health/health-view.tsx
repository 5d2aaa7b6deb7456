import type { DocumentStateName, IngestionFigures } from '@inlay/protocol'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { adminCalls } from '../admin/calls.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { formatBytes, formatDuration, formatNumber, formatSeconds } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'
import '../styles/admin.css'
import '../styles/health.css'
import type { HealthPlaceProps } from './health-place.tsx'
import type { Latency } from './latencies.ts'
import { Plot } from './plot.tsx'
import { useHealth, type Health, type Sample } from './use-health.ts'

/** How the service is: what waits, what is indexed, what is ready and how fast it is. */
export function HealthView({ access, model }: HealthPlaceProps): JSX.Element {
  const calls = useMemo(() => adminCalls(access.client, access.baseUrl, access.apiKey), [access])
  const health = useHealth(calls)
  const figures = health.samples.at(-1)?.figures
  return (
    <section class="health" aria-labelledby="health-title">
      <div class="documents-head">
        <h1 id="health-title">{texts.health.title}</h1>
        <p class="lead">{texts.health.lead}</p>
      </div>
      {health.failure !== null && <FailureNote failure={health.failure} />}
      {figures === undefined && health.failure === null && <p class="nothing">{texts.frame.loading}</p>}
      {figures !== undefined && (
        <>
          <Parts health={health} figures={figures} model={model} />
          <div class="health-cards">
            <Queue samples={health.samples} figures={figures} />
            <States figures={figures} />
            <Index samples={health.samples} figures={figures} />
          </div>
        </>
      )}
      {health.latencies !== undefined && <Latencies latencies={health.latencies} />}
    </section>
  )
}

function Card({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="health-card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Figure({ label, value }: { label: string; value: string }): JSX.Element {
  return (
    <div class="health-figure">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  )
}

const pointsOf = (
  samples: readonly Sample[],
  value: (figures: IngestionFigures) => number,
): Parameters<typeof Plot>[0]['points'] => samples.map(({ at, figures }) => ({ at, value: value(figures) }))

function Queue({ samples, figures }: { samples: readonly Sample[]; figures: IngestionFigures }): JSX.Element {
  const { queue_depth: depth, oldest_waiting_seconds: oldest } = figures
  return (
    <Card title={texts.health.queue}>
      <dl>
        <Figure label={texts.health.waiting} value={formatNumber(depth)} />
        <Figure label={texts.health.oldest} value={oldest > 0 ? formatDuration(oldest) : texts.health.noneWaits} />
      </dl>
      <Plot label={texts.health.waiting} points={pointsOf(samples, (known) => known.queue_depth)} />
    </Card>
  )
}

const stateOrder: readonly DocumentStateName[] = ['indexed', 'indexing', 'pending', 'failed']

function States({ figures: { documents } }: { figures: IngestionFigures }): JSX.Element {
  const total = stateOrder.reduce((sum, state) => sum + documents[state], 0)
  let start = 0
  return (
    <Card title={texts.health.documents(total)}>
      <svg class="state-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {stateOrder.map((state) => {
          const share = total === 0 ? 0 : (documents[state] / total) * 100
          const x = start
          start += share
          return <rect key={state} class={state} x={x} y="0" width={share} height="4" />
        })}
      </svg>
      <ul class="state-list">
        {stateOrder.map((state) => (
          <li key={state} class={state}>
            <span class="dot" />
            <span>{texts.documents.states[state]}</span>
            <span class="count">{formatNumber(documents[state])}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Index({
  samples,
  figures: { index },
}: {
  samples: readonly Sample[]
  figures: IngestionFigures
}): JSX.Element {
  return (
    <Card title={texts.health.index}>
      <dl>
        <Figure label={texts.health.rows} value={formatNumber(index.rows)} />
        <Figure label={texts.health.unindexed} value={formatNumber(index.unindexed_rows)} />
        <Figure
          label={texts.health.bytes}
          value={index.bytes === null ? texts.health.notTold : formatBytes(index.bytes)}
        />
      </dl>
      <Plot label={texts.health.rows} points={pointsOf(samples, (known) => known.index.rows)} />
    </Card>
  )
}

interface PartsProps {
  readonly health: Health
  readonly figures: IngestionFigures
  readonly model: string
}

/** Each part of the service, and whether it is ready. */
function Parts({ health: { readiness }, figures: { embedder, rebuild, documents }, model }: PartsProps): JSX.Element {
  const { parts } = texts.health
  return (
    <ul class="health-parts" aria-label={texts.health.readiness}>
      <Part name={parts.service} tone={readiness === undefined ? 'waits' : readiness.isReady ? 'ready' : 'failed'}>
        {readiness === undefined ? texts.frame.loading : readiness.isReady ? texts.health.ready : readiness.reason}
      </Part>
      <Part name={parts.index} tone={rebuild === null ? 'ready' : 'waits'}>
        {rebuild === null
          ? texts.health.ready
          : texts.health.rebuilds(rebuild.documents, texts.health.reasons[rebuild.reason])}
      </Part>
      <Part name={parts.embedder} tone={!embedder.indexes ? 'failed' : embedder.is_used ? 'ready' : 'waits'}>
        {embedder.recorded ?? texts.health.noEmbedder}
        {!embedder.is_used && ` · ${texts.health.otherEmbedder(embedder.configured)}`}
      </Part>
      <Part name={parts.model} tone="ready">
        {model}
      </Part>
      {documents.failed > 0 && (
        <Part name={parts.failures} tone="failed">
          <a href="#documents">{texts.health.failed(documents.failed)}</a>
        </Part>
      )}
      {readiness?.isReady === true &&
        readiness.notes.map((note) => (
          <Part key={note} name={parts.note} tone="waits">
            {note}
          </Part>
        ))}
    </ul>
  )
}

interface PartProps {
  readonly name: string
  readonly tone: 'ready' | 'waits' | 'failed'
  readonly children: ComponentChildren
}

function Part({ name, tone, children }: PartProps): JSX.Element {
  return (
    <li class={`health-part ${tone}`}>
      <span class="dot" />
      <strong>{name}</strong>
      <span class="visually-hidden">{texts.health.tones[tone]}: </span>
      <span>{children}</span>
    </li>
  )
}

const telemetrySetting = 'INLAY_TELEMETRY=on'

function Latencies({ latencies }: { latencies: readonly Latency[] | 'off' }): JSX.Element {
  return (
    <section class="health-latencies" aria-labelledby="latencies-title">
      <h2 id="latencies-title">{texts.health.latency}</h2>
      {latencies === 'off' ? (
        <p class="nothing">
          {texts.health.telemetryOff} <code>{telemetrySetting}</code>
        </p>
      ) : latencies.length === 0 ? (
        <p class="nothing">{texts.health.nothingMeasured}</p>
      ) : (
        <div class="table-frame" tabIndex={0} role="group" aria-labelledby="latencies-title">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{texts.health.measured}</th>
                <th scope="col" class="amount">
                  {texts.health.times}
                </th>
                <th scope="col" class="amount">
                  {texts.health.median}
                </th>
                <th scope="col" class="amount">
                  {texts.health.slow}
                </th>
              </tr>
            </thead>
            <tbody>
              {latencies.map(({ name, count, median, slow }) => (
                <tr key={name}>
                  <th scope="row">{texts.health.latencies[name]}</th>
                  <td class="amount">{formatNumber(count)}</td>
                  <td class="amount">{formatSeconds(median)}</td>
                  <td class="amount">{slow === null ? texts.health.beyond : formatSeconds(slow)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="facts">{texts.health.sinceStart}</p>
    </section>
  )
}
