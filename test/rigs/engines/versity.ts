/** The S3 server of Versity over a folder, built from its source by Go, with a user that has only what a policy gives. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { eventually } from '../../life/process.ts'
import type { EngineServer } from '../scale/engines.ts'

const version = 'v1.8.0'
const root = { accessKeyId: 'root', secretAccessKey: 'secret-of-the-root', region: 'us-east-1' }

/** The user of a check. */
export const user = { accessKeyId: 'inlay', secretAccessKey: 'secret-of-the-user', region: 'us-east-1' }
export const bucket = 'my-bucket'

function program(): string {
  const folder = join(process.env['INLAY_ENGINES'] ?? join(tmpdir(), 'inlay-engines'), `versitygw-${version}`)
  const file = join(folder, 'versitygw')
  if (existsSync(file)) return file
  process.stdout.write(`Building an S3 server in ${folder} …\n`)
  mkdirSync(folder, { recursive: true })
  const env = { ...process.env, GOBIN: folder }
  execFileSync('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`], { env, stdio: 'inherit' })
  return file
}

/**
 * @param folder of its own, which stays
 * @param tls files of a certificate and its key
 */
export async function versityServer(
  port: number,
  folder: string,
  tls?: { readonly cert: string; readonly key: string },
): Promise<EngineServer & { allow(statements: readonly object[]): Promise<void> }> {
  for (const part of ['data', 'users']) mkdirSync(join(folder, part), { recursive: true })
  const url = `http${tls ? 's' : ''}://127.0.0.1:${port}`
  const access = ['--access', root.accessKeyId, '--secret', root.secretAccessKey]
  const client = new AwsClient({ ...root, service: 's3', retries: 0 })
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const start = async (): Promise<void> => {
    const secure = tls ? ['--cert', tls.cert, '--key', tls.key] : []
    const words = [...access, '--port', `127.0.0.1:${port}`, '--iam-dir', join(folder, 'users'), '--quiet', ...secure]
    child = spawn(program(), [...words, 'posix', join(folder, 'data')], { stdio: 'ignore' })
    const isUp = async () => ((await client.fetch(url).catch(() => undefined)) ? true : undefined)
    await (tls ? new Promise((resolve) => setTimeout(resolve, 2_000)) : eventually('the S3 server answers', isUp))
  }
  await start()
  const admin = ['admin', ...access, '--endpoint-url', url, '--allow-insecure']
  const newUser = ['--access', user.accessKeyId, '--secret', user.secretAccessKey, '--role', 'user']
  execFileSync(program(), [...admin, 'create-user', ...newUser], { stdio: 'ignore' })
  execFileSync(program(), [...admin, 'create-bucket', '--owner', root.accessKeyId, '--bucket', bucket], {
    stdio: 'ignore',
  })
  return {
    url,
    start,
    kill,
    pids: () => (child?.pid === undefined ? [] : [child.pid]),
    remove: kill,
    allow: async (statements) => {
      const Statement = statements.map((statement) => ({ ...statement, Principal: { AWS: [user.accessKeyId] } }))
      const body = JSON.stringify({ Version: '2012-10-17', Statement })
      const { status } = await client.fetch(`${url}/${bucket}?policy`, { method: 'PUT', body })
      if (status !== 204) throw new Error(`the policy was refused with ${status}`)
    },
  }
}
