import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-engines-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

/** A data folder that has been used before. */
async function usedFolder(): Promise<string> {
  const folder = newFolder()
  await run(['keys', 'create'], {}, folder)
  return folder
}

async function run(
  words: readonly string[],
  env: Record<string, string>,
  folder = newFolder(),
): Promise<{ code: number; said: string }> {
  let said = ''
  const write = (text: string): void => void (said += text)
  const code = await runCommandLine([...words, '--data', folder], {
    env: () => env,
    stdout: { write },
    stderr: { write },
    signal: new AbortController().signal,
  })
  return { code, said }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A server that refuses connections with the error of PostgreSQL. */
async function refusingPostgres(): Promise<string> {
  const fields = ['SFATAL', 'VFATAL', 'C28P01', 'Mpassword authentication failed for user "inlay"']
  const body = Buffer.from(`${fields.join('\0')}\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  const port = await listening(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, body])))
    }),
  )
  return `postgres://inlay:the-password@127.0.0.1:${port}/inlay`
}

test('a database that refuses the user is told with the setting, without the password', async () => {
  const { code, said } = await run(['keys', 'list'], { INLAY_DATABASE_URL: await refusingPostgres() })
  expect(code).toBe(1)
  expect(said).toMatch(/^inlay: The database refused the role, its password .* in INLAY_DATABASE_URL, /)
  expect(said).toMatch(/It says: password authentication failed for user "inlay"\.\n$/)
  expect(said).not.toContain('the-password')
})

test('a bucket that refuses the key stops the start, without the key', async () => {
  const refusal = '<Error><Code>InvalidAccessKeyId</Code></Error>'
  const bucket = createHttpServer((_, response) => response.writeHead(403).end(refusal))
  const env = {
    INLAY_FILES_URL: 's3://bucket/files',
    INLAY_S3_ENDPOINT: `http://127.0.0.1:${await listening(bucket)}`,
    INLAY_S3_ACCESS_KEY_ID: 'the-id-of-the-key',
    INLAY_S3_SECRET_ACCESS_KEY: 'the-secret',
  }
  const { code, said } = await run(['agents', 'list'], env, await usedFolder())
  expect(code).toBe(1)
  expect(said).toMatch(
    /^inlay: The bucket for uploaded files refused a request \(InvalidAccessKeyId\): check INLAY_FILES_URL/,
  )
  expect(said).not.toMatch(/the-id|the-secret/)
})

test('a bucket that is away is told at the start, which goes on', async () => {
  const bucket = createServer((socket) => socket.destroy())
  const env = {
    INLAY_FILES_URL: 's3://bucket/files',
    INLAY_S3_ENDPOINT: `http://127.0.0.1:${await listening(bucket)}`,
    INLAY_S3_ACCESS_KEY_ID: 'the-id-of-the-key',
    INLAY_S3_SECRET_ACCESS_KEY: 'the-secret',
  }
  const { code, said } = await run(['agents', 'list'], env, await usedFolder())
  expect(code).toBe(0)
  expect(said).toMatch(/^inlay: The storage of files cannot be reached: try again later\..*\n +0  /)
  expect(said).not.toMatch(/the-id|the-secret/)
})

test.each(['backup', 'restore'])('%s refuses where records or files are not in a data folder', async (command) => {
  const database = { INLAY_DATABASE_URL: 'postgres://inlay:the-password@127.0.0.1:1/inlay' }
  const keys = { INLAY_S3_ACCESS_KEY_ID: 'a', INLAY_S3_SECRET_ACCESS_KEY: 'b' }
  const files = { INLAY_FILES_URL: 's3://bucket/files', ...keys }
  for (const [env, name] of [
    [database, 'INLAY_DATABASE_URL'],
    [files, 'INLAY_FILES_URL'],
  ] as const) {
    const { code, said } = await run([command, '/nowhere/at/all'], env)
    expect(code).toBe(1)
    expect(said).toMatch(
      new RegExp(`^inlay: ${name} is set, so the .* are not in a data folder: .* with their own tools`),
    )
  }
})
