import { expect, test } from 'vitest'
import { latenciesOf } from '../../../packages/page/src/health/latencies.ts'
import { lineOf } from '../../../packages/page/src/health/plot.tsx'

const bucket = (end: string, count: number, labels = 'error_type=""'): string =>
  `inlay_search_duration_seconds_bucket{le="${end}",${labels}} ${count}`

test('median and slow values are read from the buckets of all series of a metric', () => {
  const metrics = [
    '# HELP inlay_search_duration_seconds one search',
    '# TYPE inlay_search_duration_seconds histogram',
    bucket('0.1', 40),
    bucket('0.2', 80),
    bucket('1', 90),
    bucket('+Inf', 90),
    bucket('0.1', 0, 'error_type="TIMEOUT"'),
    bucket('0.2', 0, 'error_type="TIMEOUT"'),
    bucket('1', 10, 'error_type="TIMEOUT"'),
    bucket('+Inf', 10, 'error_type="TIMEOUT"'),
    'inlay_search_duration_seconds_sum{error_type=""} 12',
    'nodejs_gc_duration_seconds_bucket{le="0.001",kind="major"} 3',
  ].join('\n')
  // 50 of 100 lie a quarter into the bucket from .1 to .2, 95 three quarters into the one up to 1.
  expect(latenciesOf(metrics)).toEqual([{ name: 'search', count: 100, median: 0.125, slow: 0.8 }])
})

test('what took longer than the last bucket has no number, and what never happened is left out', () => {
  const metrics = [
    bucket('0.1', 1),
    bucket('+Inf', 20),
    'http_server_request_duration_seconds_bucket{le="+Inf"} 0',
  ].join('\n')
  expect(latenciesOf(metrics)).toMatchObject([{ name: 'search', count: 20, median: null, slow: null }])
  expect(latenciesOf('')).toEqual([])
})

test('of the calls of engines, only commits to the index are shown', () => {
  const call = (engine: string, operation: string, count: number): string =>
    `db_client_operation_duration_seconds_bucket{le="+Inf",inlay_engine="${engine}",db_operation_name="${operation}"} ${count}`
  const metrics = [call('records', 'append', 5), call('index', 'search', 6), call('index', 'append', 7)]
  expect(latenciesOf(metrics.join('\n'))).toMatchObject([{ name: 'indexing', count: 7 }])
})

test('a line fills the plot from its first value to its last', () => {
  const points = [
    { at: 1000, value: 0 },
    { at: 2000, value: 10 },
    { at: 5000, value: 5 },
  ]
  expect(lineOf(points, { least: 0, most: 10 })).toBe('0,42 60,2 240,22')
  expect(lineOf(points.slice(0, 1), { least: 0, most: 0 })).toBe('0,42')
})
