import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createClient } from '@inlay/client'
import type { InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { latin1, pdf, pdfText } from '../../drivers/files/samples.ts'
import { key, serve } from './installation.ts'

/** An installation, and `inlay ingest` of a damaged and a whole file into it. */
async function open(options: Pick<InlayOptions, 'embedder' | 'onError' | 'worker'>) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-partly-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const files = join(folder, 'files')
  mkdirSync(files)
  const whole = pdf(['Herons', 'Boats', 'Gates'].map((word) => pdfText([[50, 700, 12, `${word} of the harbour`]])))
  const damaged = Buffer.from(whole).toString('latin1').replace('8 0 R', '99 0 R')
  writeFileSync(join(files, 'damaged.pdf'), latin1(damaged))
  writeFileSync(join(files, 'whole.pdf'), whole)
  const { base } = await serve({ dataFolder: join(folder, 'data'), ...options })
  const ingest = async (...more: readonly string[]) => {
    let [out, err] = ['', '']
    const code = await runCommandLine(['ingest', files, '--url', base, '--key', key, ...more], {
      env: () => ({}),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      stdin: Readable.from([]),
      signal: new AbortController().signal,
    })
    return { code, out, err }
  }
  return { base, ingest }
}

test('pages of a file that could not be read are named by ingest, and by the state of the document', async () => {
  const { base, ingest } = await open({ worker: { lingerMs: 1 } })
  const { code, out, err } = await ingest()
  expect([code, out]).toEqual([0, '2 new, 0 changed, 0 unchanged, 0 failed, 1 partly read\n'])
  const unread = '1 of 3 pages could not be read: 2.'
  expect(err).toContain(`inlay: files/damaged.pdf: ${unread}\n`)
  expect(err).not.toContain('whole.pdf')
  expect(JSON.parse((await ingest('--json')).out)).toMatchObject({ partly_read: 1 })
  const client = createClient({ baseUrl: base, apiKey: key })
  expect((await client.documentState('files/damaged.pdf')).unread).toBe(unread)
  expect(await client.documentState('files/whole.pdf')).not.toHaveProperty('unread')
})

test('files that could not be indexed are not counted as partly read', async () => {
  const embed = () => Promise.reject(new Error('The model is away.'))
  const { ingest } = await open({
    embedder: { id: 'none@4', dimensions: 4, maxBatchSize: 8, embed },
    onError: () => {},
    worker: { lingerMs: 1, maxAttempts: 1 },
  })
  const { code, out } = await ingest('--json')
  expect([code, JSON.parse(out)]).toEqual([1, { files: 2, new: 0, changed: 0, unchanged: 0, failed: 2, skipped: {} }])
})
