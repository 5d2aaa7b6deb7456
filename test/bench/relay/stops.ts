/** Time from pressing stop until the stream is silent. */

/**
 * Stops answers in their midst, one after the other.
 * @returns the slowest, in milliseconds from the request to the end of the stream
 */
export async function measureStops(port: number, times: number, key: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const base = `http://127.0.0.1:${port}/api/chat`
  let slowest = 0
  for (let time = 0; time < times; time++) {
    const body = JSON.stringify({
      message: 'go',
      llm_override: { model_provider: 'bench', model_version: '100000x20' },
    })
    const response = await fetch(`${base}/send-chat-message`, { method: 'POST', headers, body })
    let text = ''
    let begun: number | undefined
    let stopped: Promise<Response> | undefined
    // The responses of streams have a body.
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      if (begun !== undefined || !text.includes('tok ')) continue
      begun = performance.now()
      const session = /"chat_session_id":"([^"]+)"/.exec(text)?.[1] ?? ''
      stopped = fetch(`${base}/stop-chat-session/${session}`, { method: 'POST', headers })
    }
    if (begun === undefined || !text.includes('user_cancelled')) throw new Error('An answer was not stopped.')
    slowest = Math.max(slowest, performance.now() - begun)
    await stopped
  }
  return slowest
}
