import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { newInstallation, type Installation } from './installation.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

const connector = {
  name: 'Handbook',
  source: 'ingestion_api',
  input_type: 'load_state',
  connector_specific_config: {},
  access_type: 'public',
}
const credential = { credential_json: { token: 'a secret' }, admin_public: true, source: 'ingestion_api' }

/** Three calls, as existing clients make a pair. */
async function makePair(
  { call }: Installation,
  config: object = {},
  source = 'ingestion_api',
): Promise<{ readonly pair: number; readonly connector: number; readonly credential: number }> {
  const created = await call<{ id: number }>('POST', '/manage/admin/connector', {
    ...connector,
    source,
    connector_specific_config: config,
  })
  expect(created).toMatchObject({ status: 200, body: { credential: null } })
  const key = await call<{ id: number }>('POST', '/manage/credential', { ...credential, source })
  const [left, right] = [created.body.id, key.body.id]
  const link = await call<{ data: number }>('PUT', `/manage/connector/${left}/credential/${right}`, {
    name: 'Handbook pair',
    access_type: 'public',
  })
  expect(link).toMatchObject({ status: 200, body: { success: true } })
  return { pair: link.body.data, connector: left, credential: right }
}

describe('a connector and a credential', () => {
  test('become a pair in three calls, whose documents are found and counted', async () => {
    const installation = await newInstallation()
    const { call } = installation
    const { pair } = await makePair(installation)
    await call('POST', '/service-api/ingestion', {
      document: { id: 'a', semantic_identifier: 'Leave', metadata: {}, sections: [{ text: 'Leave is granted.' }] },
      cc_pair_id: pair,
    })
    expect((await call('GET', `/manage/admin/cc-pair/${pair}`)).body).toMatchObject({
      id: pair,
      name: 'Handbook pair',
      status: 'ACTIVE',
      num_docs_indexed: 1,
      last_index_attempt_status: 'success',
      access_type: 'public',
      connector: { name: 'Handbook', source: 'ingestion_api' },
      credential: { credential_json: { token: '••••' } },
    })
    expect((await call('GET', '/manage/admin/connector/status')).body).toMatchObject([{ cc_pair_id: pair }])
    expect(
      (await call('POST', '/manage/admin/connector/indexing-status', { get_all_connectors: true })).body,
    ).toMatchObject([
      {
        source: 'ingestion_api',
        summary: { total_connectors: 1, active_connectors: 1, public_connectors: 1, total_docs_indexed: 1 },
        indexing_statuses: [{ cc_pair_id: pair, in_progress: false, last_status: 'success', docs_indexed: 1 }],
      },
    ])
    expect(installation.errors).toEqual([])
  })

  test('of uploaded files take them in: when they are linked, and when they are run again', async () => {
    const installation = await newInstallation()
    const { call } = installation
    const form = new FormData()
    form.append('files', new File(['# Leave\n\nStaff get 25 days of leave.'], 'leave.md', { type: 'text/markdown' }))
    const upload = await call<{ file_paths: string[] }>('POST', '/manage/admin/connector/file/upload?unzip=true', form)
    expect(upload).toMatchObject({ status: 200, body: { file_names: ['leave.md'], zip_metadata_file_id: null } })
    const linked = await makePair(
      installation,
      { file_locations: upload.body.file_paths, file_names: ['leave.md'] },
      'file',
    )
    expect((await call('GET', `/service-api/connector-docs/${linked.pair}`)).body).toHaveLength(1)
    const run = { connector_id: linked.connector, credential_ids: null, from_beginning: true }
    expect((await call('POST', '/manage/admin/connector/run-once', run)).body).toMatchObject({ success: true, data: 1 })
    expect((await call('GET', `/service-api/connector-docs/${linked.pair}`)).body).toHaveLength(1)
    expect((await call('GET', '/manage/connector-status')).body).toMatchObject([{ source: 'file' }])
  })

  test('take no archive: it is refused with what to do, and nothing of the form is kept', async () => {
    // However long the reader takes to start.
    const limits = { maxCallerRuns: 10, maxUploadWaitMs: 60_000 }
    const { call } = await newInstallation({ limits })
    const archives = {
      zip: new Uint8Array(zipSync({ 'leave.md': bytesOf('Staff get 25 days of leave.') })),
      tar: bytesOf(`${'leave.md'.padEnd(257, '\0')}ustar${'\0'.repeat(300)}Staff get 25 days of leave.`),
      gz: new Uint8Array(gzipSync('Staff get 25 days of leave.')),
    }
    for (const [ending, archive] of Object.entries(archives)) {
      const form = new FormData()
      form.append('files', new File(['Herons wait.'], 'herons.md', { type: 'text/markdown' }))
      form.append('files', new File([archive], `handbook.${ending}`, { type: 'application/octet-stream' }))
      expect(await call('POST', '/manage/admin/connector/file/upload?unzip=true', form)).toMatchObject({
        status: 400,
        body: { error_code: 'INVALID_INPUT', detail: expect.stringContaining('The file is an archive: unpack it') },
      })
      expect((await call('GET', '/user/files/recent')).body).toEqual([])
    }
  })

  test('linked twice say so; paused, resumed and deleted, the pair follows', async () => {
    const installation = await newInstallation()
    const { call } = installation
    const linked = await makePair(installation)
    const again = { name: 'x', access_type: 'public' }
    expect(
      (await call('PUT', `/manage/connector/${linked.connector}/credential/${linked.credential}`, again)).body,
    ).toMatchObject({ success: false, data: linked.connector })
    const status = `/manage/admin/cc-pair/${linked.pair}/status`
    expect((await call('PUT', status, { status: 'PAUSED' })).body).toEqual({ message: '200' })
    expect((await call('GET', `/manage/admin/cc-pair/${linked.pair}`)).body).toMatchObject({ status: 'PAUSED' })
    expect(await call('PUT', status, { status: 'DELETING' })).toMatchObject({ status: 400 })
    await call('PUT', status, { status: 'ACTIVE' })
    const deletion = { connector_id: linked.connector, credential_id: linked.credential }
    expect(await call('POST', '/manage/admin/deletion-attempt', deletion)).toEqual({ status: 200, body: null })
    expect(await call('GET', `/manage/admin/cc-pair/${linked.pair}`)).toMatchObject({ status: 404 })
    expect((await call('POST', '/manage/admin/connector/indexing-status', {})).body).toEqual([])
    expect(await call('POST', '/manage/admin/deletion-attempt', deletion)).toMatchObject({
      status: 404,
      body: { error_code: 'CONNECTOR_NOT_FOUND' },
    })
  })

  test('of a service that is not read here are refused with the reason', async () => {
    const { call } = await newInstallation()
    for (const wrong of [{ source: 'slack' }, { access_type: 'sync' }])
      expect(await call('POST', '/manage/admin/connector', { ...connector, ...wrong })).toMatchObject({
        status: 403,
        body: { error_code: 'DEPLOYMENT_UNSUPPORTED' },
      })
    await call('POST', '/manage/admin/connector', connector)
    expect(await call('POST', '/manage/admin/connector', connector)).toMatchObject({ status: 400 })
    const unknown = { name: 'x', access_type: 'public' }
    expect(await call('PUT', '/manage/connector/5/credential/6', unknown)).toMatchObject({ status: 404 })
    const files = {
      ...connector,
      name: 'F',
      source: 'file',
      connector_specific_config: { file_locations: ['nothing'] },
    }
    expect(await call('POST', '/manage/admin/connector', files)).toMatchObject({ status: 404 })
  })

  test('stand for a pair that was made by itself', async () => {
    const { call } = await newInstallation()
    const pair = await call<{ id: number }>('POST', '/manage/admin/cc-pair', { name: 'Wiki' })
    const { id } = pair.body
    expect((await call('GET', `/manage/admin/cc-pair/${id}`)).body).toMatchObject({
      connector: { id, source: 'ingestion_api', credential_ids: [id] },
      credential: { id },
    })
    expect(await call('POST', '/manage/admin/deletion-attempt', { connector_id: id, credential_id: id })).toMatchObject(
      {
        status: 200,
      },
    )
  })
})
