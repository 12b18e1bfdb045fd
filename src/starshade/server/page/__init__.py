"""The pages: the ``page`` of each template, and its address.

A template decides how a page looks, never what it says: sentences, formatted figures, and the next
step to take are worked out before. Texts are plain text (the templates escape them).

=====================  ==============  =====================================================
template               made by         address
=====================  ==============  =====================================================
``home.html.j2``       `home_page`     ``GET /``, and ``POST /data/…`` that was refused
``data.html.j2``       `data_page`     ``GET /data/ID``, and ``POST /data/ID/…`` refused
``job.html.j2``        `job_page`      ``GET /jobs/ID``
``job_panel.html.j2``  `job_page`      ``GET /jobs/ID/panel``, and each event ``panel``
``release.html.j2``    `release_page`  ``GET /releases/JOB``
``error.html.j2``      `refusal`       errors
=====================  ==============  =====================================================

``GET /jobs/ID/events`` sends the event ``panel`` (the fragment ``job_panel.html.j2``, when it
changed) and, at the end, ``done`` (its data: the state that the job ended in).
"""
