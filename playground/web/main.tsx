import { render } from 'preact'
import { Gate } from './service/gate.tsx'

const place = document.getElementById('app')
if (place !== null) render(<Gate />, place)
