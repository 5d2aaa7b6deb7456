import type { IngestionFigures } from '@inlay/protocol'
import type { ComponentChildren } from 'preact'
import { AdminTabs } from '../admin/admin-tabs.tsx'
import { Figures, Waiting } from '../admin/parts.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import { stateOrder, totalOf } from '../service/counts.ts'
import { formatBytes, formatDuration, formatNumber, formatSeconds } from '../texts/locale.ts'
import { adminTexts, documentTexts, healthTexts } from '../texts/view-texts.ts'
import { texts } from '../texts/texts.ts'
import '../styles/admin.css'
import '../styles/health.css'
import type { Latency } from './latencies.ts'
import { Plot } from './plot.tsx'
import { useHealth, type Health, type Sample } from './use-health.ts'

export function HealthView({ calls, model }: { calls: ServiceCalls; model: string }) {
  const health = useHealth(calls)
  const figures = health.samples.at(-1)?.figures
  return (
    <section class="health u-view" aria-labelledby="health-title">
      <h1 id="health-title">{adminTexts.health}</h1>
      <AdminTabs shown="health" baseUrl={calls.baseUrl} />
      <p class="lead">{healthTexts.lead}</p>
      <Waiting loaded={{ value: figures, failure: health.failure }} />
      {figures !== undefined && (
        <>
          <Parts health={health} figures={figures} model={model} />
          <div class="health-cards u-grid u-gap-12">
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

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="health-card u-grid u-gap-12 u-min-0 u-card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div class="health-figure u-flex u-gap-8 u-baseline">
      <dt class="u-note">{label}</dt>
      <dd class="u-text u-body u-medium">{value}</dd>
    </div>
  )
}

const pointsOf = (
  samples: readonly Sample[],
  value: (figures: IngestionFigures) => number,
): Parameters<typeof Plot>[0]['points'] => samples.map(({ at, figures }) => ({ at, value: value(figures) }))

interface FiguresProps {
  readonly samples: readonly Sample[]
  readonly figures: IngestionFigures
}

function Queue({ samples, figures }: FiguresProps) {
  const { queue_depth: depth, oldest_waiting_seconds: oldest } = figures
  return (
    <Card title={healthTexts.queue}>
      <dl class="u-gap-4 u-grid">
        <Figure label={healthTexts.waiting} value={formatNumber(depth)} />
        <Figure label={healthTexts.oldest} value={oldest > 0 ? formatDuration(oldest) : healthTexts.noneWaits} />
      </dl>
      <Plot label={healthTexts.waiting} points={pointsOf(samples, (known) => known.queue_depth)} />
    </Card>
  )
}

function States({ figures: { documents } }: { figures: IngestionFigures }) {
  const total = totalOf(documents)
  let start = 0
  return (
    <Card title={healthTexts.documents(total)}>
      <svg class="state-bar u-full u-raised" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {stateOrder.map((state) => {
          const share = total === 0 ? 0 : (documents[state] / total) * 100
          const x = start
          start += share
          return <rect key={state} class={state} x={x} y="0" width={share} height="4" />
        })}
      </svg>
      <ul class="state-list u-grid u-gap-4">
        {stateOrder.map((state) => (
          <li key={state} class={`u-flex u-gap-8 u-baseline u-note ${state}`}>
            <span class="dot" />
            <span>{documentTexts.states[state]}</span>
            <span class="count u-text u-body u-medium">{formatNumber(documents[state])}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Index({ samples, figures: { index } }: FiguresProps) {
  return (
    <Card title={healthTexts.index}>
      <dl class="u-gap-4 u-grid">
        <Figure label={healthTexts.rows} value={formatNumber(index.rows)} />
        <Figure label={healthTexts.unindexed} value={formatNumber(index.unindexed_rows)} />
        <Figure
          label={healthTexts.bytes}
          value={index.bytes === null ? healthTexts.notTold : formatBytes(index.bytes)}
        />
      </dl>
      <Plot label={healthTexts.rows} points={pointsOf(samples, (known) => known.index.rows)} />
    </Card>
  )
}

interface PartsProps {
  readonly health: Health
  readonly figures: IngestionFigures
  readonly model: string
}

function Parts({ health: { readiness }, figures: { embedder, rebuild, documents }, model }: PartsProps) {
  const { parts } = healthTexts
  return (
    <ul class="health-parts u-card" aria-label={healthTexts.readiness}>
      <Part name={parts.service} tone={readiness === undefined ? 'waits' : readiness.isReady ? 'ready' : 'failed'}>
        {readiness === undefined ? texts.frame.loading : readiness.isReady ? healthTexts.tones.ready : readiness.reason}
      </Part>
      <Part name={parts.index} tone={rebuild === null ? 'ready' : 'waits'}>
        {rebuild === null
          ? healthTexts.tones.ready
          : healthTexts.rebuilds(rebuild.documents, healthTexts.reasons[rebuild.reason])}
      </Part>
      <Part name={parts.embedder} tone={!embedder.indexes ? 'failed' : embedder.is_used ? 'ready' : 'waits'}>
        {embedder.recorded ?? healthTexts.noEmbedder}
        {!embedder.is_used && ` · ${healthTexts.otherEmbedder(embedder.configured)}`}
      </Part>
      <Part name={parts.model} tone="ready">
        {model}
      </Part>
      {documents.failed > 0 && (
        <Part name={parts.failures} tone="failed">
          <a href="#documents">{healthTexts.failed(documents.failed)}</a>
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

function Part({ name, tone, children }: PartProps) {
  return (
    <li class={`health-part u-grid u-center u-anywhere ${tone}`}>
      <span class="dot" />
      <strong class="u-medium">{name}</strong>
      <span class="visually-hidden">{healthTexts.tones[tone]}: </span>
      <span>{children}</span>
    </li>
  )
}

const telemetrySetting = 'INLAY_TELEMETRY=on'

function Latencies({ latencies }: { latencies: readonly Latency[] | 'off' }) {
  return (
    <section class="health-latencies u-grid u-gap-8" aria-labelledby="latencies-title">
      <h2 id="latencies-title">{healthTexts.latency}</h2>
      {latencies === 'off' ? (
        <p class="nothing u-muted">
          {healthTexts.telemetryOff} <code>{telemetrySetting}</code>
        </p>
      ) : latencies.length === 0 ? (
        <p class="nothing u-muted">{healthTexts.nothingMeasured}</p>
      ) : (
        <Figures
          label={healthTexts.latency}
          head={[healthTexts.measured, healthTexts.times, healthTexts.median, healthTexts.slow]}
          words={1}
        >
          {latencies.map(({ name, count, median, slow }) => (
            <tr key={name}>
              <th scope="row">{healthTexts.latencies[name]}</th>
              <td class="amount">{formatNumber(count)}</td>
              <td class="amount">{median === null ? healthTexts.beyond : formatSeconds(median)}</td>
              <td class="amount">{slow === null ? healthTexts.beyond : formatSeconds(slow)}</td>
            </tr>
          ))}
        </Figures>
      )}
      <p class="facts u-small u-anywhere">{healthTexts.sinceStart}</p>
    </section>
  )
}
