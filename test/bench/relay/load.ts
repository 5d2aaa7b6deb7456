/** Opens streams at a relay, all in one tick, and reports when tokens arrive. */
import { request } from 'node:http'

/** Instructions for the load client. */
export interface LoadOrder {
  readonly port: number
  readonly path: string
  readonly body: string
  readonly streams: number
  /** Readers rest this long after each piece they take, in milliseconds. Default: they take all at once. */
  readonly restMs?: number | undefined
}

/** Results; times are milliseconds. */
export interface LoadReport {
  /** From the start of a stream to its first token, in no order. */
  readonly firstTokens: readonly number[]
  readonly tokens: number
  readonly totalMs: number
  readonly failures: number
}

const mark = Buffer.from('tok ')

/** Counts tokens in bytes that are cut anywhere. */
function createCounter(): (bytes: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    const whole = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let results = 0
    let end = 0
    for (let at = whole.indexOf(mark); at !== -1; at = whole.indexOf(mark, end)) {
      results++
      end = at + mark.length
    }
    rest = whole.subarray(Math.max(end, whole.length - mark.length + 1))
    return results
  }
}

function openStream({ port, path, body, restMs }: LoadOrder): Promise<{ firstMs: number | undefined; tokens: number }> {
  const begun = performance.now()
  let firstMs: number | undefined
  let tokens = 0
  const count = createCounter()
  return new Promise((resolve) => {
    const done = (): void => resolve({ firstMs, tokens })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${process.env['BENCH_RELAY_KEY']}` }
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false }, (response) => {
      response.on('data', (bytes: Buffer) => {
        tokens += count(bytes)
        if (tokens > 0) firstMs ??= performance.now() - begun
        if (restMs === undefined) return
        response.pause()
        setTimeout(() => response.resume(), restMs)
      })
      response.on('close', done)
    })
    // A stream that goes silent is a failure, and must not keep the benchmark from its end.
    sent.setTimeout(60_000, () => sent.destroy())
    sent.on('error', done)
    sent.end(body)
  })
}

process.on('message', (order: LoadOrder) => {
  const begun = performance.now()
  void Promise.all(Array.from({ length: order.streams }, () => openStream(order))).then((streams) => {
    const report: LoadReport = {
      firstTokens: streams.flatMap(({ firstMs }) => (firstMs === undefined ? [] : [firstMs])),
      tokens: streams.reduce((sum, { tokens }) => sum + tokens, 0),
      totalMs: performance.now() - begun,
      failures: streams.filter(({ firstMs }) => firstMs === undefined).length,
    }
    process.send?.(report)
  })
})
process.on('disconnect', () => process.exit())
